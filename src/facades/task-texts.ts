import type { Outcome } from "../core/outcome/outcome.ts";
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

/** The text for the model when a task was started in the background. */
export function backgroundStarted({
  id,
  type,
  description,
  file,
}: Pick<TaskRecord, "id" | "type" | "description" | "file">): string {
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

/** The usage of a finished task, shown below its result. */
export function resultBox({ ms, usage }: Outcome, type: string): string {
  return box("Subagent Result", [
    `Type: ${type}`,
    ...(ms === undefined ? [] : [`Duration: ${formatDuration(ms, "spaced")}`]),
    ...(usage ? [`Turns: ${usage.turns}`, `Tokens: ${usage.input} in / ${usage.output} out`] : []),
  ]);
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
