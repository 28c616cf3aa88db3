/**
 * A clock that never goes back. When the given clock was set back, it shows an earlier time than before; then the time
 * that has passed is measured and added to the last time shown. `last`: the last time that an earlier process showed.
 */
export function steadyClock(clock: () => number, last = Number.NEGATIVE_INFINITY): () => number {
  let shown = last;
  let since = performance.now();
  return () => {
    const time = clock();
    const measured = performance.now();
    if (time >= shown) {
      shown = time;
      since = measured;
    } else {
      const passed = Math.floor(measured - since);
      shown += passed;
      since += passed;
    }
    return shown;
  };
}

/**
 * Measures how far a clock jumped ahead between two of its times: how much more time it showed than has passed. Returns
 * `undefined` for a clock that runs evenly.
 */
export function measureJumps(): (at: number) => number | undefined {
  let last: Readonly<{ at: number; measured: number }> | undefined;
  return (at) => {
    const measured = performance.now();
    const ahead = last === undefined ? 0 : Math.round(at - last.at - (measured - last.measured));
    // Smaller differences add up until they count, since a clock can also be adjusted in small steps.
    if (last === undefined || ahead < 0 || ahead >= JUMP_MS) last = { at, measured };
    return ahead >= JUMP_MS ? ahead : undefined;
  };
}

/** The smallest jump of the wall clock that is recorded, in milliseconds. */
const JUMP_MS = 1_000;
