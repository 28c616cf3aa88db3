/** The same work on a small and on a large input; so many small ones are to cost as much as the large one. */
export type Sizes = Readonly<{ small(): unknown; large(): unknown; pieces: number }>;

/**
 * How many times as much a large input costs as its pieces do: about 1 where the cost grows as the input does, about the
 * number of pieces where it grows with the square of it. A fast machine and a slow one agree on that. The best of several
 * tries counts: what else goes on here makes one of them slow, and what grows too fast makes all of them slow.
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

/** Both in turn, for long enough that both are interrupted as often. */
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
