/**
 * Streams that wait for their turn. This is module state on purpose, because all streams of the process share one event
 * loop.
 */
const waiting: (() => void)[] = [];

/**
 * Calls `resume` in a later turn of the event loop, one caller per turn. So a signal or a timer waits for at most one
 * chunk of one program, however many programs print without end.
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
