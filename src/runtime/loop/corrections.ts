import type { PerformContext } from "../../core/task/engine.ts";
import type { Limits } from "../../core/vocabulary/limits.ts";
import type { FinishAttempt } from "./finish-tool.ts";

/** How many times a result that is not valid is sent back. */
const MAX_CORRECTIONS = 3;

type Unusable = Extract<FinishAttempt, { problem: string }>;

/**
 * Decides whether a task is asked again for its result: as often as the limits say when there is none, three times when
 * it is not valid, but not after the same problems twice. With no reminders, a task is never asked again.
 */
export function createCorrections({
  reminders,
}: Pick<Limits, "reminders">): (finish: Unusable, isMissing: boolean) => boolean {
  let missing = 0;
  let wrong = 0;
  let last: string | undefined;
  return ({ problem }, isMissing) => {
    if (isMissing) return (missing += 1) <= reminders;
    const isSame = problem === last;
    last = problem;
    return !isSame && reminders > 0 && (wrong += 1) <= MAX_CORRECTIONS;
  };
}

/** Records that a result was accepted although it had slips. */
export function reporterOf({ emit }: Pick<PerformContext, "emit">): (slips: string) => void {
  return (slips) => emit({ type: "warning", code: "RESULT_CORRECTED", text: `The result was corrected: ${slips}.` });
}
