/** Streams that wait for their turn. Module state on purpose: the event loop that they share is one per process, too. */
const waiting: (() => void)[] = [];

/**
 * Calls `resume` in a later turn of the event loop, one caller per turn. However many programs print without end, a
 * signal or a timer waits for one chunk of one of them at most.
 */
export function awaitReadingTurn(resume: () => void): void {
  waiting.push(resume);
  if (waiting.length === 1) setImmediate(next);
}

function next(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(next);
}
