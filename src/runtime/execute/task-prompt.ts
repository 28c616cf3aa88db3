import type { TaskNode } from "../../core/plan/plan.ts";
import { fillIn, type Lookup, referredText } from "../../core/schedule/fill-references.ts";
import type { Call } from "../../core/task/engine.ts";
import { ownEntry } from "../../core/text/json.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import type { PlanScope } from "./scope.ts";

/** True for a task that revises the output of the previous round. */
export const revises = ({ task }: TaskNode, path: string, { prefix, round }: PlanScope): boolean =>
  round !== undefined && prefix + round.of === path && task.revise !== undefined;

/** True for the task of a loop that judges the output of each round. */
export const judges = (path: string, { prefix, judge }: PlanScope): boolean =>
  judge !== undefined && path === prefix + judge;

/**
 * The prompt of a task with references filled in. In a later round of a loop it is the revision prompt, and a review
 * also gets the previous review.
 */
export function promptFor(
  node: TaskNode,
  path: string,
  { scope, lookup }: { scope: PlanScope; lookup: Lookup },
): string {
  const { round } = scope;
  const asked = fillIn(node, lookup);
  if (!round) return asked;
  if (judges(path, scope))
    return [asked, fill(prompts.lastReview, new Map([["feedback", round.feedback]]))].join("\n\n");
  if (!revises(node, path, scope)) return asked;
  return fill(
    node.task.revise!,
    new Map([
      ["task", referredText(ownEntry(node.task.refs ?? {}, "task"), lookup) ?? asked],
      ["output", round.output],
      ["feedback", round.feedback],
    ]),
  );
}

const [CHANGED_FILES_HEAD = ""] = prompts.changedFiles.split("{", 1);

/** True if a recorded prompt is this prompt, with or without the list of changed files after it. */
export const isPrompt = (recorded: string, prompt: string): boolean =>
  recorded === prompt || recorded.startsWith(`${prompt}\n\n${CHANGED_FILES_HEAD}`);

/** Adds the files that the rounds of the loop changed so far to the prompt. */
export async function withChangedFiles(call: Call, { run, loop }: PlanScope): Promise<Call> {
  const files = loop === undefined ? [] : ((await run.changedBelow?.(loop).catch(() => [])) ?? []);
  if (files.length === 0) return call;
  const text = fill(prompts.changedFiles, new Map([["files", files.map((file) => `- ${file}`).join("\n")]]));
  return { ...call, task: { ...call.task, prompt: `${call.task.prompt}\n\n${text}` } };
}
