import { explain, type Outcome, type ReadOutcome } from "../core/outcome/outcome.ts";
import { addUsage, noUsage } from "../core/outcome/usage.ts";
import type { KeptEvent } from "../core/run/event.ts";
import { emptyState, reduce } from "../core/run/state.ts";
import { defined } from "../core/text/defined.ts";
import type { ProjectRuns } from "../runtime/resume/project-runs.ts";

export type TaskStatus = "running" | "completed" | "error" | "cancelled";

/** The record of a task that was started in the background. */
export type TaskRecord = Readonly<{
  id: string;
  type: string;
  description: string;
  status: TaskStatus;
  startedAt: number;
  endedAt?: number;
  /** The turns that a running task has made, and their maximum. */
  progress?: Readonly<{ turns: number; maxTurns: number }>;
  tokens?: Readonly<{ input: number; output: number }>;
  result?: string;
  error?: string;
  file?: string;
}>;

/** The status for an outcome, in gen-code's terms. */
export const taskStatusOf = (outcome: Outcome): TaskStatus =>
  outcome.status === "ok" ? "completed" : outcome.status === "cancelled" ? "cancelled" : "error";

/** A record with the result of the task. */
export function endedRecord(
  record: TaskRecord,
  outcome: ReadOutcome,
  { endedAt, result }: Readonly<{ endedAt: number; result: string }>,
): TaskRecord {
  const { usage, file } = outcome;
  return {
    ...record,
    status: taskStatusOf(outcome),
    endedAt,
    ...(usage && { tokens: { input: usage.input, output: usage.output } }),
    ...(outcome.status === "ok" ? { result } : { error: explain(outcome) }),
    ...defined({ file }),
  };
}

/** The record of a task (`run/path`) or of a whole run, from the journals of any process. */
export async function recordedTask(
  id: string,
  history: ProjectRuns | undefined,
  summary: (outcome: Outcome) => string,
): Promise<TaskRecord | undefined> {
  const [run = "", ...rest] = id.split("/");
  const events = await history?.events(run);
  if (!events) return undefined;
  const state = events.reduce((known, event) => reduce(known, event), emptyState(run));
  const view = state.nodes.get(rest.length > 0 ? rest.join("/") : (state.plan?.output ?? ""));
  if (!view || view.kind !== "task") return undefined;
  const usage = addUsage(noUsage(), view.usage);
  const record: TaskRecord = {
    id,
    type: view.agent ?? "general",
    description: view.label,
    status: "running",
    startedAt: view.startedAt,
    tokens: { input: usage.input, output: usage.output },
  };
  if (view.outcome)
    return endedRecord(record, view.outcome, {
      endedAt: view.endedAt ?? view.startedAt,
      result: summary(view.outcome),
    });
  if (isOver(events)) return { ...record, status: "error", error: "the task was interrupted" };
  const { limits } = view;
  return limits ? { ...record, progress: { turns: usage.turns, maxTurns: limits.maxTurns } } : record;
}

const isOver = (events: readonly KeptEvent[]): boolean => events.at(-1)?.type === "run.ended";
