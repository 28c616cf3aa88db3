/** Arguments of a skill or command: one text, or the words of a command line. */
export type SkillArguments = string | readonly string[];

/**
 * The text of a skill with its arguments. `$ARGUMENTS` stands for all arguments, `$ARGUMENTS[0]` and `$0` for the
 * first. A text without `$ARGUMENTS` gets all arguments appended. Without arguments the text stays unchanged. A number
 * without an argument stays unchanged, too.
 */
export function expandSkill(body: string, given: SkillArguments | null | undefined): string {
  if (given === null || given === undefined || textOf(given) === "") return body;
  const filled = substitute(body, given, { first: 0 });
  return /\$ARGUMENTS(?!\[)/.test(body) ? filled : `${filled}\n\nARGUMENTS: ${textOf(given)}`;
}

/**
 * The text of a workflow command with its arguments. `$@` and `$ARGUMENTS` stand for all arguments, `$1` for the first
 * word. A text without a placeholder is returned unchanged.
 */
export function expandCommand(instructions: string, given: SkillArguments): string {
  return substitute(instructions, given, { first: 1 });
}

const MARK = /\$(?:@|ARGUMENTS(?:\[(\d{1,4})\])?|(\d{1,4})(?!\d))/g;

/** Replaces placeholders in one literal pass: inserted text is not expanded again, and `$&` in it has no meaning. */
function substitute(text: string, given: SkillArguments, { first }: { readonly first: 0 | 1 }): string {
  const words = wordsOf(given);
  return text.replace(MARK, (mark, index: string | undefined, number: string | undefined) => {
    if (mark === "$@") return first === 1 ? textOf(given) : mark;
    if (index !== undefined) return words[Number(index)] ?? mark;
    if (number !== undefined) return words[Number(number) - first] ?? mark;
    return textOf(given);
  });
}

const textOf = (given: SkillArguments): string => (typeof given === "string" ? given : given.join(" "));

function wordsOf(given: SkillArguments): readonly string[] {
  if (typeof given !== "string") return given;
  return given.trim() === "" ? [] : given.trim().split(/\s+/);
}
