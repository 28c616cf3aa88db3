import { LETTER, LETTER_OR_MARK } from "./name-characters.ts";

const PLACEHOLDER = new RegExp(`\\{([${LETTER}_](?:[${LETTER_OR_MARK}_.:@ \\-]*[${LETTER_OR_MARK}_.:@\\-])?)\\}`, "gu");

/**
 * The placeholders of a text, each once, in order. `blanks`: including placeholders with blanks inside, which are
 * usually ordinary text in braces.
 */
export function placeholdersIn(text: string, { blanks = false }: { blanks?: boolean } = {}): string[] {
  if (!text.includes("{")) return [];
  const found = new Set<string>();
  for (const [, name = ""] of text.matchAll(PLACEHOLDER)) if (blanks || !name.includes(" ")) found.add(name);
  return [...found];
}

/**
 * Replaces the placeholders that `values` knows and leaves all others unchanged. It makes a single literal pass:
 * inserted text is not expanded again, and `$&` in it has no meaning.
 */
export function fill(text: string, values: Pick<ReadonlyMap<string, string>, "get">): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}

/** The text that stands for an empty output. It tells a reader that the task ran. */
export const NO_OUTPUT = "(no output from task)";

/**
 * The node that a mode's placeholder means: `task_x`, `result_x`, `task:x` or `result:x`, where `x` is an id, or, when
 * it is all digits and no id, the position in the list. `undefined`: it is not a reference, or its target does not
 * exist.
 */
export function referenced(placeholder: string, ids: readonly string[]): string | undefined {
  const name = referenceName(placeholder);
  if (name === undefined) return undefined;
  if (ids.includes(name)) return name;
  return /^\d+$/.test(name) ? ids[Number(name)] : undefined;
}

/**
 * The part after `task_`, `result_`, `task:` or `result:`; `undefined` for a placeholder with none of these prefixes.
 */
export function referenceName(placeholder: string): string | undefined {
  return /^(?:task|result)[_:](.+)$/.exec(placeholder)?.[1];
}
