import type { Call } from "../../core/task/engine.ts";
import { prompts } from "../../embedded.ts";

/** Text before the prompt of a task: the context of the run, then the context of the task. */
export function prefaceOf({ context, task, run, fork }: Pick<Call, "context" | "task" | "run" | "fork">): string {
  const known = fork?.task.startsWith(`${run}/`) === true; // the forked conversation already begins with the context of the run
  return [known ? "" : context, task.preface ?? ""].filter((part) => part !== "").join("\n\n");
}

/** Text after the prompt: the attached outputs, each with its name. */
export function attachmentsOf({ attachments }: Pick<Call, "attachments">): string[] {
  return attachments.map(({ title, text }) => `<result of="${title}">\n${text}\n</result>`);
}

/** The parts of a request from which the first message of a task is made. */
export type FirstMessageParts = Pick<Call, "attachments" | "context" | "fork" | "resumes" | "review" | "run" | "task">;

/** The first message to the model: context, prompt and attached outputs. `hasSchema`: the result has fields. */
export function firstMessage(call: FirstMessageParts, hasSchema: boolean): string {
  if (call.resumes) return call.task.prompt; // the conversation already contains context and attachments
  const attached = attachmentsOf(call);
  return [
    prefaceOf(call),
    call.task.prompt,
    ...(attached.length > 0 ? [prompts.attached, ...attached] : []),
    call.task.planOnly && call.task.continues === undefined ? prompts.planFirst : "",
    call.review ? verdictPrompt(call.task.prompt, hasSchema) : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/**
 * Tells a reviewer how to give its verdict: in the fields of its result, else with the marker, unless its prompt
 * already says how.
 */
export function verdictPrompt(prompt: string, hasSchema: boolean): string {
  if (hasSchema) return prompts.reviewFields;
  return prompt.includes("REVISION_NEEDED") ? "" : prompts.reviewMarker;
}
