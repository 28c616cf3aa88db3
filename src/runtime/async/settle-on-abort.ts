import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed, type RunPlace } from "../../core/task/crash.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { reasonOf } from "./cancel.ts";
import { onAbort } from "./on-abort.ts";

/**
 * Resolves as soon as the signal aborts. A cancelled task ends at once, even if its tools are still busy, so that a
 * race does not wait for its losers. Nothing that the task emits afterwards is used. Partial results that it noted
 * before are kept.
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
      // Gives a task that stops by itself one event loop turn to return its partial result.
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
    work({ ...context, emit: heard(context.emit), live: heard(context.live) }, note).then(
      // If the noted answer failed its check only because of the abort, the answer is kept and the abort is the reason.
      (outcome) =>
        settle(
          signal.aborted && noted?.status === "ok" && outcome.status === "failed"
            ? stoppedWith(noted, reasonOf(signal))
            : outcome,
        ),
      (thrown: unknown) => settle(crashed(thrown, place)),
    );
  });
}

/** The outcome of a task that was stopped while its answer was being checked: it keeps the answer and its cost. */
function stoppedWith(noted: Outcome | undefined, reason: string): Outcome {
  if (noted?.status !== "ok") return { status: "cancelled", reason };
  const { status: _status, data: _data, from: _from, ...rest } = noted;
  return { ...rest, status: "cancelled", reason };
}
