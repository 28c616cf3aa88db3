import { limitFlag, limitText } from "../../core/outcome/reached-limit.ts";
import { type TaskLimit, timeLimit, turnLimit } from "../../core/outcome/task-ending.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { type Limits, NEAR_MIN_TURNS, NEAR_SHARE } from "../../core/vocabulary/limits.ts";

/** Checks a task's limits before each turn; limits that are not enforced are only reported, once. */
export function createLimitWatch(
  limits: Limits,
  emit: PerformContext["emit"],
): (turns: number, isTimeUp: boolean) => TaskLimit | undefined {
  const reported = new Set<string>();
  const nearTurns = limits.maxTurns < NEAR_MIN_TURNS ? limits.maxTurns : Math.ceil(limits.maxTurns * NEAR_SHARE);
  return (turns, isTimeUp) => {
    if (turns >= nearTurns && turns < limits.maxTurns && !reported.has("near")) {
      reported.add("near");
      emit(nearLimit(`The task has taken ${turns} turns`, "turns", limits.maxTurns));
    }
    const isOverTime = isTimeUp && limits.enforce; // the clock reports a time limit that is not enforced
    const reached = isOverTime ? timeLimit(limits) : turns >= limits.maxTurns ? turnLimit(limits) : undefined;
    if (reached === undefined) return undefined;
    const { code, limit } = reached;
    const text = `The limit of ${limitText(limit)} was reached.`;
    if (!reported.has(code))
      emit({ type: "limit.reached", limit: code, text, enforced: limits.enforce, reached: limit });
    reported.add(code);
    return limits.enforce ? reached : undefined;
  };
}

/** Warns that most of the time of a task is used. */
export const nearTime = ({ maxTimeMs }: Limits): Fact =>
  nearLimit(`The task has worked for ${formatDuration(maxTimeMs * NEAR_SHARE)}`, "time", maxTimeMs);

/** Warns that a task is near one of its limits, and names the flag that raises the limit. */
function nearLimit(used: string, kind: "turns" | "time", value: number): Extract<Fact, { type: "warning" }> {
  const text = `${used} and may take ${limitText({ kind, value })}; then the agent returns the result it has so far. Raise the limit with ${limitFlag({ kind, value })}.`;
  return { type: "warning", code: "LIMIT_NEAR", text };
}
