/** The lowest and the highest value of the settings with which a model chooses its words. */
export const SAMPLING = { temperature: { min: 0, max: 2 }, topP: { min: 0, max: 1 } } as const;
