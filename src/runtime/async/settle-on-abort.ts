import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed, type RunPlace } from "../../core/task/crash.ts";
import { reasonOf } from "./cancel.ts";
import { onAbort } from "./on-abort.ts";

/** The end of a task: whether it is over, after which its events are dropped, and its result so far. */
export type TaskEnd = Readonly<{ isOver(): boolean; note(outcome: Outcome): void }>;

/**
 * Resolves as soon as the signal aborts. A cancelled task ends at once, even if its tools are still busy, so that a
 * race does not wait for its losers. Partial results that it noted before are kept.
 */
export function settleOnAbort(
  place: RunPlace,
  signal: AbortSignal,
  work: (end: TaskEnd) => Promise<Outcome>,
): Promise<Outcome> {
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
    const note = (outcome: Outcome): void => {
      noted = outcome;
    };
    work({ isOver: () => over, note }).then(
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
