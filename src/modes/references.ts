import type { Task } from "../core/plan/task.ts";
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
  }
  return { refs, unknown };
}

/** The end of a note about an unresolved placeholder; omitted where an unresolved placeholder is an error. */
export const STAYS = "; the placeholder stays in the text.";

/** The note about an unresolved placeholder. */
export function unknownReference(task: string, placeholder: string): string {
  return `The prompt of "${task}" contains {${placeholder}}, which does not refer to another task${STAYS}`;
}
