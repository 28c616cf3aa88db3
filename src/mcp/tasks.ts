import type { RunStatus } from "../core/run/run-status.ts";
import type { CallResult, Questions } from "./sdk.ts";

/** The metadata key under which a client of the earlier protocol finds the MCP task that a result belongs to. */
export const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** How often a client should poll. */
const POLL_MS = 500;

export type TaskFacts = Readonly<{
  id: string;
  life: RunStatus;
  startedAt: number;
  changedAt: number;
  /** The current activity of the run, in words. */
  doing: string;
}>;

type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * The MCP task status for each run status. A failed run is a completed task whose result contains the error: in MCP
 * only a protocol error fails a task.
 */
const statuses: Readonly<Record<RunStatus, TaskStatus>> = {
  starting: "working",
  running: "working",
  waiting: "input_required",
  parked: "working",
  paused: "failed",
  interrupted: "failed",
  ok: "completed",
  failed: "completed",
  cancelled: "cancelled",
};

/** Why an MCP task does not continue although its run has not ended. */
const STOPPED: Readonly<Partial<Record<RunStatus, string>>> = {
  paused: "the run is paused; its owner can resume it",
  interrupted: "the run was interrupted",
};

type Common = Readonly<{
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
}>;

function common({ id, life, startedAt, changedAt, doing }: TaskFacts): Common {
  const statusMessage = STOPPED[life] ?? doing;
  return {
    taskId: id,
    status: statuses[life],
    ...(statusMessage !== "" && { statusMessage }),
    createdAt: new Date(startedAt).toISOString(),
    lastUpdatedAt: new Date(Math.max(startedAt, changedAt)).toISOString(),
  };
}

/** An MCP task in the format of protocol revision 2026-07-28, with its result or its questions. */
export function modernTask(
  facts: TaskFacts,
  { result, questions }: Readonly<{ result?: CallResult; questions?: Questions }> = {},
): Record<string, unknown> {
  const task = common(facts);
  return {
    ...task,
    ttlMs: null,
    pollIntervalMs: POLL_MS,
    ...(task.status === "completed" && result && { result: { resultType: "complete", ...result } }),
    ...(task.status === "input_required" && { inputRequests: questions ?? {} }),
    ...(task.status === "failed" && { error: { code: -32603, message: STOPPED[facts.life] } }),
  };
}

/** An MCP task in the format of protocol revision 2025-11-25. */
export function legacyTask(facts: TaskFacts): Record<string, unknown> {
  return { ...common(facts), ttl: null, pollInterval: POLL_MS };
}
