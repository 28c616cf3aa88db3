/** The time of this file in milliseconds: `scripts/soak.mjs` sets it, and without the script it is three minutes. */
const ownMs = Number(process.env["SUBCREW_SOAK_MINUTES"] ?? 3) * 60_000;
const began = performance.now();

/** The number of tests of this file that have not used their part of the time. */
let parts = 0;

/**
 * Divides the time of this file among its random tests. Each of them calls this once, before any of them runs, and gets
 * a function that returns the `performance.now()` at which it has to end: time that earlier tests left is shared by the
 * remaining ones.
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

/** Prints the progress of a test, at most every twenty seconds. */
export function createProgress(): (text: () => string) => void {
  let shown = performance.now();
  return (text) => {
    if (performance.now() - shown < 20_000) return;
    shown = performance.now();
    process.stdout.write(`soak: ${text()}\n`);
  };
}

/**
 * Prints what a test did, and the seed with which the rest begins: `scripts/soak.mjs` repeats these lines at its end.
 */
export const done = (text: string): void => void process.stdout.write(`done: ${text}\n`);
