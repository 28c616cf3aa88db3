/** The same work on a small and on a large input; `pieces` small ones should cost as much as the large one. */
export type Sizes = Readonly<{ small(): unknown; large(): unknown; pieces: number }>;

/**
 * How many times as much a large input costs as its pieces: about 1 for linear growth, about the number of pieces for
 * quadratic growth. This does not depend on the speed of the machine. The best of several tries counts: other load
 * makes one of them slow, and growth that is too fast makes all of them slow.
 */
export function growth({ small, large, pieces }: Sizes): number {
  const all = (): void => {
    for (let n = 0; n < pieces; n += 1) small();
  };
  const late = performance.now() + 30_000;
  let best = compared(all, large);
  for (let tries = 1; tries < 6 && best >= 2 && performance.now() < late; tries += 1)
    best = Math.min(best, compared(all, large));
  return best;
}

/** Measures both inputs in turn, for so long that other work interrupts both equally often. */
function compared(all: () => void, large: () => unknown): number {
  let [one, many] = [0, 0];
  while (one + many < 100) {
    many += took(all);
    one += took(large);
  }
  return one / many;
}

function took(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
