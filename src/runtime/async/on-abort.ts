import { setMaxListeners } from "node:events";

/**
 * Calls the listener once, when the signal aborts; what it gives back stops listening. The one way to listen: the signal of a
 * task is followed by each of its calls and by whoever waits below it, and Node would take so many for a leak.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
