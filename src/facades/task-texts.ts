import { type Outcome, type Spending, sumSpent } from "../core/outcome/outcome.ts";
import { formatCost } from "../core/outcome/usage.ts";
import { formatDuration } from "../core/text/duration.ts";
import type { TaskRecord, TaskStatus } from "./task-records.ts";

/** How wide the lines of a box are. */
const WIDE = 55;
const signs: Readonly<Record<TaskStatus, string>> = { running: "⏳", completed: "✅", error: "❌", cancelled: "🚫" };

/** A box with a title and lines, open to the right so that long lines stay whole. */
function box(title: string, lines: readonly string[], wide: number = WIDE): string {
  const head = `┌─ ${title} `;
  return [
    head + "─".repeat(Math.max(0, wide + 1 - head.length)),
    ...lines.map((line) => `│ ${line}`),
    `└${"─".repeat(wide)}`,
  ].join("\n");
}

type Begun = Pick<TaskRecord, "id" | "type" | "description" | "file">;

/** The text for the model when a task was started in the background. */
export const backgroundNote = ({ id, type, description, file }: Begun): string =>
  [
    `Started in the background: ${description} (${type})`,
    `Task ID: ${id}`,
    ...(file === undefined ? [] : [`Output: ${file}`]),
    "Its result arrives as a message when it ends; do not poll.",
  ].join("\n");

/** The same text in the format of gen-code. */
export function backgroundStarted({ id, type, description, file }: Begun): string {
  const asks = (what: string): string => `  TaskOutput({ ${what} })`;
  return [
    box("Background Task Started", [
      `Task ID: ${id}`,
      `Type: ${type}`,
      `Description: ${description}`,
      ...(file === undefined ? [] : [`Output: ${file}`]),
    ]),
    "",
    "The task is running in the background. You can continue working.",
    "",
    "To check status:",
    asks(`action: 'status', taskId: '${id}'`),
    "",
    "To get result (blocks until complete):",
    asks(`action: 'result', taskId: '${id}', block: true`),
    "",
    "To cancel:",
    asks(`action: 'cancel', taskId: '${id}'`),
  ].join("\n");
}

/** What a finished task was and used, shown below its result. */
export function resultBox(outcome: Outcome, { type, task }: Readonly<{ type: string; task: string }>): string {
  const { model } = outcome;
  const named = [`Type: ${type}`, `Task: ${task}`, ...(model === undefined ? [] : [`Model: ${model}`])];
  return box("Subagent Result", [...named, ...usedLines(outcome)]);
}

/** What several tasks used together. */
export const totalBox = (outcomes: readonly Outcome[]): string =>
  box("Total", [`Tasks: ${outcomes.length}`, ...usedLines(sumSpent(outcomes))]);

function usedLines({ ms, usage, cost, tools = {} }: Spending): string[] {
  const calls = Object.values(tools).reduce((sum, count) => sum + count, 0);
  return [
    ...(ms === undefined ? [] : [`Duration: ${formatDuration(ms, "spaced")}`]),
    ...(usage ? [`Turns: ${usage.turns}`, `Tokens: ${usage.input} in / ${usage.output} out`] : []),
    ...(calls > 0 ? [`Tool calls: ${calls}`] : []),
    ...(cost && cost.usd > 0 ? [`Cost: ${formatCost(cost)}`] : []),
  ];
}

/** The full text about one task. */
export function taskText(record: TaskRecord, now: number): string {
  const { id, type, description, status, startedAt, endedAt, progress, tokens, result, error, file } = record;
  const seconds = Math.round(((endedAt ?? now) - startedAt) / 1_000);
  return [
    `Task ID: ${id}`,
    `Type: ${type}`,
    `Description: ${description}`,
    `Status: ${status}`,
    ...(progress === undefined ? [] : [`Progress: ${turnsOf(progress)} turns (${percentOf(progress)}%)`]),
    `Duration: ${seconds}s`,
    ...(endedAt === undefined ? [] : [`Completed: ${new Date(endedAt).toISOString()}`]),
    ...(tokens ? [`Tokens: ${tokens.input} in / ${tokens.output} out`] : []),
    ...(file === undefined ? [] : [`Output: ${file}`]),
    ...(error === undefined ? [] : [`Error: ${error}`]),
    ...(result === undefined ? [] : ["", "Result:", result]),
  ].join("\n");
}

/** The list of tasks, one line each. */
export function taskListText(records: readonly TaskRecord[], now: number): string {
  if (records.length === 0) return "No background tasks found.";
  const lines = records.map(
    ({ id, description, status, startedAt, endedAt, progress }) =>
      `${signs[status]} ${id} - ${description} [${status}${progress === undefined ? "" : ` (${turnsOf(progress)})`}] ` +
      `(${formatDuration((endedAt ?? now) - startedAt, "spaced")})`,
  );
  return `Found ${records.length} task(s):\n\n${lines.join("\n")}`;
}

type Progress = NonNullable<TaskRecord["progress"]>;

const turnsOf = ({ turns, maxTurns }: Progress): string => `${turns}/${maxTurns}`;
const percentOf = ({ turns, maxTurns }: Progress): number => Math.round((turns / maxTurns) * 100);
