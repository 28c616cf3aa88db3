/**
 * A clock that never goes back. While the given clock shows less than before, because the clock of the machine was set back,
 * the time that has passed is measured and added to the last time shown. `last`: the last time that an earlier process showed.
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
