/** How long a piece of work may occupy the event loop, in milliseconds. */
const TURN_MS = 10;
/** How many items are processed before the clock is read again. */
const ITEMS_PER_LOOK = 64;

/** Calls a function for each item of a long list, and lets other work run in between. */
export async function inTurns<T>(items: readonly T[], act: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (let at = 0; at < items.length; at += 1) {
    act(items[at]!);
    if (at % ITEMS_PER_LOOK !== ITEMS_PER_LOOK - 1 || performance.now() - began < TURN_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    began = performance.now();
  }
}
