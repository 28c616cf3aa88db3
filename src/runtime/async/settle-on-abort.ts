import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed, type RunPlace } from "../../core/task/crash.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { reasonOf } from "./cancel.ts";
import { onAbort } from "./on-abort.ts";

/**
 * Ends with the signal: a task that is cancelled is over at once, whatever its tools still do, and nothing it
 * says afterwards is heard. Whoever waits for a race must not wait for its losers. What it noted before that it has come
 * to stays with it.
 */
export function settleOnAbort(
  place: RunPlace,
  context: PerformContext,
  work: (context: PerformContext, note: (outcome: Outcome) => void) => Promise<Outcome>,
): Promise<Outcome> {
  const { signal } = context;
  return new Promise((resolve) => {
    let over = false;
    let noted: Outcome | undefined;
    const settle = (outcome: Outcome): void => {
      if (over) return;
      over = true;
      release?.();
      resolve(outcome);
    };
    const giveUp = (): void => {
      // One turn of the event loop for a task that stops by itself and can say how far it came.
      setImmediate(() => settle(stoppedWith(noted, reasonOf(signal))));
    };
    let release: (() => void) | undefined;
    if (signal.aborted) giveUp();
    else release = onAbort(signal, giveUp);
    const heard =
      <A extends unknown[]>(say: (...args: A) => void) =>
      (...args: A): void => {
        if (!over) say(...args);
      };
    const note = (outcome: Outcome): void => {
      noted = outcome;
    };
    work({ ...context, emit: heard(context.emit), live: heard(context.live) }, note).then(settle, (thrown: unknown) =>
      settle(crashed(thrown, place)),
    );
  });
}

/** A task that was stopped while its answer was being looked at keeps the answer, and what it cost. */
function stoppedWith(noted: Outcome | undefined, reason: string): Outcome {
  if (noted?.status !== "ok") return { status: "cancelled", reason };
  const { status: _status, data: _data, from: _from, ...rest } = noted;
  return { ...rest, status: "cancelled", reason };
}
