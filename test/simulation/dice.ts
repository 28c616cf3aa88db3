/** Random numbers from a seed: the same seed gives the same numbers. */
export type Dice = Readonly<{
  /** From 0 up to 1. */
  random(): number;
  /** An integer below `sides`. */
  below(sides: number): number;
  /** True with a probability of one in `many`. */
  oneIn(many: number): boolean;
  pick<T>(from: readonly T[]): T;
}>;

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (sides: number): number => Math.floor(random() * sides);
  return { random, below, oneIn: (many) => below(many) === 0, pick: (from) => from[below(from.length)]! };
}
