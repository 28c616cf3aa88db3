import { timeoutSignal } from "../runtime/async/long-timer.ts";
import { z } from "zod";
import type { ReadOutcome } from "../core/outcome/outcome.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/task/tool.ts";
import { excerptOf, shareOf } from "../core/outcome/excerpt.ts";
import { AS_LONG_AS_IT_TAKES, type FacadeParts } from "./facade.ts";
import type { StartedTasks } from "./started-tasks.ts";
import { defined } from "../core/text/defined.ts";
import { recordedTask, type TaskRecord } from "./task-records.ts";
import { taskListText, taskText } from "./task-texts.ts";

/** The maximum time that one call waits. */
export const MOST_WAIT_MS = 600_000;
const DEFAULT_WAIT_MS = 30_000;

const input = z.strictObject({
  action: z.enum(["status", "list", "result", "wait", "cancel"]).describe("the action"),
  taskId: z.string().optional().describe("the task id; not used by list"),
  block: z.boolean().optional().describe("with result: wait until the task has ended"),
  timeout: z
    .number()
    .min(0)
    .max(MOST_WAIT_MS)
    .optional()
    .describe(`how long to wait, in milliseconds (default: ${DEFAULT_WAIT_MS})`),
  filter: z
    .enum(["running", "completed", "error", "cancelled", "all"])
    .optional()
    .describe("with list: only tasks with this status; error includes cancelled tasks"),
});
type Input = z.infer<typeof input>;

/**
 * The tool `TaskOutput` of the program gen-code: it tells the state of background tasks. Records survive the process
 * that wrote them, so every task of the project is found.
 */
export function taskOutput(desk: StartedTasks, parts: FacadeParts): Tool {
  return defineTool({
    name: "TaskOutput",
    description:
      "Manages background tasks: status, list, result (waits with block: true), wait (tells the status, not the result), cancel. You are notified when a task ends, so do not poll.",
    input,
    effect: "read",
    does: "none",
    polls: true,
    order: () => "spawn",
    timeoutMs: AS_LONG_AS_IT_TAKES,
    async run(given, context) {
      if (given.action === "list") return list(given, { desk, parts, context });
      if (given.taskId === undefined || given.taskId === "")
        return failure(`taskId is required for ${given.action} action`);
      return actions[given.action]({ ...given, taskId: given.taskId }, { desk, parts, context });
    },
  });
}

type Asked = Readonly<Input & { taskId: string }>;
type Around = Readonly<{ desk: StartedTasks; parts: FacadeParts; context: ToolContext }>;
type Action = (asked: Asked, around: Around) => Promise<ToolResult>;

const actions: Readonly<Record<Exclude<Input["action"], "list">, Action>> = {
  status: async ({ taskId }, around) => {
    const record = await find(taskId, around);
    return record ? told(record, taskText(record, around.parts.clock())) : failure(`Task not found: ${taskId}`);
  },
  result: async (asked, around) => {
    if (asked.block) return afterWaiting(asked, around, result);
    const record = await find(asked.taskId, around);
    if (!record) return failure(`Task not found: ${asked.taskId}`);
    return record.status === "running"
      ? "Task is still running. Use block=true to wait for completion."
      : result(record);
  },
  wait: (asked, around) =>
    afterWaiting(asked, around, (record) => told(record, `Task completed with status: ${record.status}`)),
  cancel: async ({ taskId }, { desk, context }) => {
    const stopped = await context.background?.stop(
      desk.key(taskId) ?? keyOf(taskId),
      "cancelled by the agent that started it",
    );
    return stopped ? `Task ${taskId} has been cancelled` : failure("Task is not running or not found");
  },
};

const excerptFor = (outcome: ReadOutcome, { resultChars }: ToolContext): string =>
  excerptOf(outcome, shareOf(resultChars, 1));

/** The current state of a task: from the process that started it, or else from the record. */
async function find(id: string, { desk, parts, context }: Around): Promise<TaskRecord | undefined> {
  const record = desk.get(id);
  if (record !== undefined && record.status !== "running") return record;
  const recorded = await recordedTask(id, parts.history, (outcome) => excerptFor(outcome, context));
  return record === undefined ? recorded : { ...record, ...defined({ progress: recorded?.progress }) };
}

/** Waits until a task has ended, and returns the text about its end. */
async function afterWaiting(
  { taskId, timeout = DEFAULT_WAIT_MS }: Asked,
  around: Around,
  tell: (record: TaskRecord) => ToolResult,
): Promise<ToolResult> {
  const found = await find(taskId, around);
  if (!found) return failure(`Task not found: ${taskId}`);
  const signal = AbortSignal.any([around.context.signal, timeoutSignal(timeout)]);
  const record = found.status === "running" ? await settled(found, around, signal) : found;
  return record.status === "running" ? failure(`Task wait timeout (${timeout}ms)`) : tell(record);
}

/** The record with its outcome, if the task ends before the signal aborts. */
async function settled(record: TaskRecord, { desk, parts, context }: Around, signal: AbortSignal): Promise<TaskRecord> {
  const delegated = await context.background?.ended(desk.key(record.id) ?? keyOf(record.id), signal);
  const id = record.id.split("/").at(-1)!;
  const outcome = delegated?.nodes?.[id] ?? delegated;
  if (!outcome) return record;
  const ended = desk.end(record.id, outcome, {
    endedAt: parts.clock(),
    result: excerptFor({ ...outcome, ...defined({ file: record.file }) }, context),
  });
  return ended ?? (await recordedTask(record.id, parts.history, (one) => excerptFor(one, context))) ?? record;
}

/** The key for waiting on a task of an earlier run: the task's id without the last segment. */
const keyOf = (id: string): string => id.slice(0, id.lastIndexOf("/") + 1);

async function list({ filter = "all" }: Input, around: Around): Promise<ToolResult> {
  const wanted = ({ status }: TaskRecord): boolean =>
    filter === "all" || status === filter || (filter === "error" && status === "cancelled");
  const known = around.desk.all().filter(wanted);
  const records = await Promise.all(known.map(async (record) => (await find(record.id, around)) ?? record));
  return { text: taskListText(records, around.parts.clock()), details: { tasks: records } };
}

function result(record: TaskRecord): ToolResult {
  if (record.status === "error") return failure(`Task failed: ${record.error ?? "unknown"}`);
  if (record.status === "cancelled") return failure("Task was cancelled");
  return told(record, record.result || "(no result available)");
}

const told = (record: TaskRecord, text: string): ToolResult => ({ text, details: record });
const failure = (text: string): ToolResult => ({ text, error: true });
