import type { Task } from "../core/plan/task.ts";
import { nearest } from "../core/text/nearest.ts";
import { placeholdersIn, referenced, referenceName } from "../core/text/template.ts";

/** The references of a prompt to other tasks of the input, and the placeholders that are not references. */
export function referencesIn(
  prompt: string,
  { ids, self, words = {} }: { ids: readonly string[]; self: string; words?: Readonly<Record<string, string>> },
): {
  refs: NonNullable<Task["refs"]>;
  unknown: string[];
} {
  const refs: NonNullable<Task["refs"]> = {};
  const unknown: string[] = [];
  for (const placeholder of placeholdersIn(prompt, { blanks: true })) {
    const target = Object.hasOwn(words, placeholder) ? words[placeholder] : referenced(placeholder, ids);
    if (target !== undefined && target !== self) refs[placeholder] = target;
    else if (target === self || referenceName(placeholder) !== undefined) unknown.push(placeholder);
    else if (isMisspelt(placeholder, { ids, words })) unknown.push(placeholder);
  }
  return { refs, unknown };
}

/** The word that refers to the step before. */
export const PREVIOUS = "previous";

/** True for a placeholder that has no meaning, but nearly has one: it differs by a few typos or by its case. */
function isMisspelt(
  placeholder: string,
  { ids, words }: { ids: readonly string[]; words: Readonly<Record<string, string>> },
): boolean {
  const marks = ["task:", "task_", "result:", "result_"];
  const known = [PREVIOUS, ...Object.keys(words), ...ids.flatMap((id) => marks.map((mark) => mark + id))];
  return nearest(placeholder, known) !== undefined;
}

/** The end of a note about an unresolved placeholder; omitted where an unresolved placeholder is an error. */
export const STAYS = "; the placeholder stays in the text.";

/** The note about an unresolved placeholder. */
export function unknownReference(task: string, placeholder: string): string {
  return `The prompt of "${task}" contains {${placeholder}}, which does not refer to another task${STAYS}`;
}
