import { pause } from "./cancel.ts";

/**
 * Returns a function that triggers the work: it starts at once, never runs twice at the same time, and starts again no
 * sooner than `everyMs` after it ended. Triggers during that time cause one further run. The work must not reject.
 */
export function atMostEvery(everyMs: number, signal: AbortSignal, work: () => Promise<void>): () => void {
  let [busy, again] = [false, false];
  return () => {
    again = true;
    if (busy) return;
    busy = true;
    void (async () => {
      while (again && !signal.aborted) {
        again = false;
        await work();
        await pause(everyMs, signal);
      }
      busy = false;
    })();
  };
}
