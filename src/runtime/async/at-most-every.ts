import { pause } from "./cancel.ts";

/**
 * Calls that ask for the same work: it begins at once, never twice at a time, and not sooner than `everyMs` after it ended.
 * What is asked for meanwhile is done once more afterwards. The work must not reject.
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
