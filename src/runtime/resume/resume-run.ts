import { needsOf, topNodeOf } from "../../core/plan/graph.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { hasEnded, isCancelledForGood } from "../../core/run/history.ts";
import type { State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { drive, type ResumedPart, type Start } from "../run/drive.ts";
import type { Drive } from "../run/run.ts";
import { hasTask, type RecordedRun, unknownTask } from "./recorded-run.ts";

/** How a recorded run is resumed; `prepare` creates everything that the rest of its plan needs. */
export type ResumeParts = ResumedPart & Readonly<{ prepare(plan: Plan): Promise<Start> }>;

/**
 * Continues a run where its journal ends. If the run has already ended, its events are published again and nothing is
 * executed.
 */
export async function resumeRun(
  it: Drive,
  { id, records: { events }, state }: RecordedRun,
  { prepare, ...wished }: ResumeParts,
): Promise<void> {
  const started = events[0];
  if (started?.type !== "run.started")
    throw new CrewError("RUN_DAMAGED", `The run "${id}" stopped before it began.`, "Start the run again.");
  const { task } = wished;
  if (hasEnded(events, wished)) return events.forEach(it.publish);
  // Refuses a copied journal: resuming it beside the original would do everything twice.
  if (started.run !== id)
    throw new CrewError(
      "RUN_DAMAGED",
      `"${id}" is a copy of the run "${started.run}", or that run under another name.`,
      `Rename the folder of the run to ${started.run} and resume that run; logs, result and replay work under any name.`,
    );
  const resume = task === undefined ? wished : { ...wished, task: checkedTask(state, task, wished) };
  const start = await prepare(started.plan);
  await drive({ ...start, resume }, it);
}

/**
 * Returns the node of the plan that continues when a task is resumed: for a subagent, the node of its parent task.
 * Throws if the task cannot be resumed.
 */
function checkedTask(state: State, path: string, { retryFailed }: ResumedPart): string {
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
