/** The lowest and the highest value of a model's sampling settings, such as the temperature. */
export const SAMPLING = { temperature: { min: 0, max: 2 }, topP: { min: 0, max: 1 } } as const;
