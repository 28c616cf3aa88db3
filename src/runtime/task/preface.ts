import type { Call } from "../../core/task/engine.ts";

/** Text before the prompt of a task: the context of the run, then that of the task. */
export function prefaceOf({ context, task, run, fork }: Pick<Call, "context" | "task" | "run" | "fork">): string {
  const known = fork?.task.startsWith(`${run}/`) === true; // its conversation already begins with the context of the run
  return [known ? "" : context, task.preface ?? ""].filter((part) => part !== "").join("\n\n");
}

/** Text after the prompt: the attached outputs, each with its name. */
export function attachmentsOf({ attachments }: Pick<Call, "attachments">): string[] {
  return attachments.map(({ title, text }) => `<result of="${title}">\n${text}\n</result>`);
}
