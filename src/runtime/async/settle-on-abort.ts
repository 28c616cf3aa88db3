import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed, type RunPlace } from "../../core/task/crash.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { reasonOf } from "./cancel.ts";
import { onAbort } from "./on-abort.ts";

/**
 * Ends with the signal: a task that is cancelled is over at once, whatever its tools still do, and nothing it
 * says afterwards is heard. Whoever waits for a race must not wait for its losers.
 */
export function settleOnAbort(
  place: RunPlace,
  context: PerformContext,
  work: (context: PerformContext) => Promise<Outcome>,
): Promise<Outcome> {
  const { signal } = context;
  return new Promise((resolve) => {
    let over = false;
    const settle = (outcome: Outcome): void => {
      if (over) return;
      over = true;
      release?.();
      resolve(outcome);
    };
    const giveUp = (): void => {
      // One turn of the event loop for a task that stops by itself and can say how far it came.
      setImmediate(() => settle({ status: "cancelled", reason: reasonOf(signal) }));
    };
    let release: (() => void) | undefined;
    if (signal.aborted) giveUp();
    else release = onAbort(signal, giveUp);
    const heard =
      <A extends unknown[]>(say: (...args: A) => void) =>
      (...args: A): void => {
        if (!over) say(...args);
      };
    work({ ...context, emit: heard(context.emit), live: heard(context.live) }).then(settle, (thrown: unknown) =>
      settle(crashed(thrown, place)),
    );
  });
}
