import { setMaxListeners } from "node:events";

/**
 * Calls the listener once when the signal aborts; returns a function that removes the listener. Use only this function:
 * the signal of a task has a listener for each of its tool calls and subagents, and with `addEventListener` Node would
 * report so many listeners as a leak.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (!unlimited.has(signal)) {
    setMaxListeners(0, signal);
    unlimited.add(signal);
  }
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/**
 * Signals whose limit of listeners was already removed. Removing it again for each listener would take longer than
 * adding the listener.
 */
const unlimited = new WeakSet<AbortSignal>();

/** Resolves when the signal aborts. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
