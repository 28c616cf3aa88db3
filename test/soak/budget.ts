/** The time of this file in milliseconds: `scripts/soak.mjs` gives it, and without the script it is three minutes. */
const ownMs = Number(process.env["SUBCREW_SOAK_MINUTES"] ?? 3) * 60_000;
const began = performance.now();

/** The number of tests of this file that have not taken their part of the time. */
let parts = 0;

/**
 * Divides the time of this file among its random tests. Each of them calls this once, before any of them runs, and gets a function that
 * says at which `performance.now()` it has to end: what the tests before it left is shared by those that are still to come.
 */
export function partOfTheTime(weight = 1): () => number {
  parts += weight;
  return () => {
    const now = performance.now();
    const end = now + (Math.max(0, began + ownMs - now) * weight) / parts;
    parts -= weight;
    return end;
  };
}

/** Prints how far a test has come, at most every twenty seconds. */
export function createProgress(): (text: () => string) => void {
  let shown = performance.now();
  return (text) => {
    if (performance.now() - shown < 20_000) return;
    shown = performance.now();
    process.stdout.write(`soak: ${text()}\n`);
  };
}

/** Says what a test did, and with which seed the rest begins: `scripts/soak.mjs` repeats these lines at its end. */
export const done = (text: string): void => void process.stdout.write(`done: ${text}\n`);
