import { isDeepStrictEqual } from "node:util";
import { isUndecided, type Outcome } from "../../core/outcome/outcome.ts";
import { isCancelledForGood } from "../../core/run/history.ts";
import { applyChange } from "../../core/schedule/change.ts";
import { begin, NOT_NEEDED, settle } from "../../core/schedule/decide.ts";
import type { Lookup } from "../../core/schedule/fill-references.ts";
import type { Schedule, ScheduleEntry, Step } from "../../core/schedule/schedule.ts";
import type { PlanScope } from "./scope.ts";
import { isPrompt, promptFor } from "./task-prompt.ts";

/**
 * Applies the recorded outcomes of a resumed run to the schedule and returns the next step; the remaining nodes still
 * have to run.
 */
export function replayOutcomes(all: Schedule, scope: PlanScope, lookup: Lookup): Step {
  const { history } = scope.run;
  const start = new Set(begin(all).start);
  const stopping = new Set<string>();
  const settled: string[] = [];
  const take = (step: Step): void => {
    for (const id of step.start) start.add(id);
    for (const id of step.cancel) stopping.add(id);
    for (const id of step.settled) {
      const recorded = history.ended(scope.prefix + id);
      // Skipped and cancelled nodes wait again after a resume, so their outcome is reported again if it is the same
      // again.
      const stands = recorded && !isUndecided(recorded) && isDeepStrictEqual(recorded, all.entries.get(id)!.outcome);
      if (!stands) settled.push(id);
    }
  };
  for (const past of history.under(scope.prefix)) {
    if (past.type === "changed") take(applyChange(all, past.change));
    else if (isAsBefore(all.entries.get(past.id), past.outcome, { scope, lookup }))
      take(settle(all, past.id, past.outcome));
  }
  // A node that was being stopped before the interruption ends with its recorded outcome, or as cancelled.
  for (const id of stopping) {
    if (all.entries.get(id)!.state === "settled") continue;
    take(settle(all, id, history.ended(scope.prefix + id) ?? { status: "cancelled", reason: NOT_NEEDED }));
  }
  return { start: [...start].filter((id) => all.entries.get(id)!.state !== "settled"), settled, cancel: [] };
}

/**
 * Tells whether a recorded outcome belongs to the task that is requested now. A model may delegate a different task
 * under the same name; then the task, and the tasks that depend on it, run again.
 */
function isAsBefore(
  entry: ScheduleEntry | undefined,
  outcome: Outcome,
  { scope, lookup }: Readonly<{ scope: PlanScope; lookup: Lookup }>,
): boolean {
  if (!entry || entry.state === "settled") return false;
  if (isCancelledForGood(outcome)) return true; // a cancelled task stays cancelled, even if it had not started
  if (entry.state !== "running") return false;
  const before = scope.run.history.started(scope.prefix + entry.id);
  if (entry.node.kind !== before?.kind) return false;
  if (entry.node.kind !== "task" || before.prompt === undefined) return true;
  const prompt = promptFor(entry.node, scope.prefix + entry.id, { scope, lookup });
  return before.agent === entry.node.task.agent && isPrompt(before.prompt, scope.run.redact(prompt));
}
