import type { Call } from "../../core/task/engine.ts";

/** What precedes the prompt of a task: what the whole run was told, then what this task is told about itself. */
export function prefaceOf({ context, task, run, fork }: Pick<Call, "context" | "task" | "run" | "fork">): string {
  const known = fork?.task.startsWith(`${run}/`) === true; // its conversation began with what the run is told
  return [known ? "" : context, task.preface ?? ""].filter((part) => part !== "").join("\n\n");
}

/** What follows the prompt: the outputs that the task was promised, each with its name. */
export function attachmentsOf({ attachments }: Pick<Call, "attachments">): string[] {
  return attachments.map(({ title, text }) => `<result of="${title}">\n${text}\n</result>`);
}
