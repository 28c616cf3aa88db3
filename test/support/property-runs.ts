/**
 * The number of random examples of a property. `npm test` tries a fifth of them, always the same ones; the soak tries
 * all of them, with other seeds each time (test/soak/properties.test.ts).
 */
export const propertyRuns = (count: number): number =>
  process.env["SUBCREW_SOAK"] === undefined ? Math.ceil(count / 5) : count;
