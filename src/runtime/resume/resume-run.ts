import { needsOf, topNodeOf } from "../../core/plan/graph.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { hasEnded, isCancelledForGood } from "../../core/run/history.ts";
import type { State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { hasTask, type RecordedRun, unknownTask } from "./recorded-run.ts";

/**
 * The part of a run to resume: everything unfinished, or with `task` only that task and the tasks that depend on it.
 */
export type ResumedPart = Readonly<{ retryFailed: boolean; task?: string }>;

/**
 * The plan of a recorded run and the part of it that is to be resumed; `undefined`: the run has ended. Throws if it
 * cannot be resumed.
 */
export function resumedPart(
  { id, records: { events }, state }: RecordedRun,
  wished: ResumedPart,
): Readonly<{ plan: Plan; resume: ResumedPart }> | undefined {
  const started = events[0];
  if (started?.type !== "run.started")
    throw new CrewError("RUN_DAMAGED", `The run "${id}" stopped before it began.`, "Start the run again.");
  if (hasEnded(events, wished)) return undefined;
  // Refuses a copied journal: resuming it beside the original would do everything twice.
  if (started.run !== id)
    throw new CrewError(
      "RUN_DAMAGED",
      `"${id}" is a copy of the run "${started.run}", or that run under another name.`,
      `Rename the folder of the run to ${started.run} and resume that run; logs, result and replay work under any name.`,
    );
  const { task } = wished;
  return {
    plan: started.plan,
    resume: task === undefined ? wished : { ...wished, task: taskToResume(state, task, wished) },
  };
}

/**
 * Returns the node of the plan that continues when a task is resumed: for a subagent, the node of its parent task.
 * Throws if the task cannot be resumed.
 */
export function taskToResume(state: State, path: string, { retryFailed }: ResumedPart): string {
  const { run, plan, nodes } = state;
  const top = plan ? topNodeOf(plan, path) : path;
  const node = plan?.nodes[top];
  if (!node || !hasTask(state, path)) throw unknownTask(state, path);
  const outcome = nodes.get(top)?.outcome;
  if (outcome && isCancelledForGood(outcome))
    throw new CrewError(
      "RUN_BUSY",
      `The task "${top}" was cancelled.`,
      `Continue the task in a new run: subcrew resume ${run}/${top} "..."`,
    );
  if (outcome?.status === "failed" && !retryFailed)
    throw new CrewError(
      "RUN_BUSY",
      `The task "${top}" has failed, so it cannot be continued.`,
      `Retry the task: subcrew resume ${run}/${top} --retry-failed`,
    );
  const open = needsOf(node).find(
    (need) => nodes.get(need)?.outcome?.status !== "ok" && plan?.nodes[need]?.kind !== "join",
  );
  if (open !== undefined)
    throw new CrewError(
      "RUN_BUSY",
      `The task "${top}" depends on the task "${open}", which has not finished.`,
      `Resume that task, and "${top}" follows: subcrew resume ${run}/${open}`,
    );
  return top;
}
