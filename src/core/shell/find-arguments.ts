import { NO_OPTIONS, type SortedArguments } from "./options.ts";
import type { ShellWord } from "./parse.ts";

const FIND_TESTS =
  "print print0 prune o a not or and empty readable executable true false daystart depth mount xdev nouser nogroup ls quit";
const FIND_VALUES =
  "name iname path ipath wholename iwholename regex iregex regextype type xtype size mtime mmin atime amin ctime cmin newer perm user " +
  "group maxdepth mindepth links inum lname ilname printf";

/** Sorts the arguments of `find`: the paths it searches, and the words that do more than test and print. */
export function findArguments(args: readonly ShellWord[]): SortedArguments {
  const tests = new Set(FIND_TESTS.split(" "));
  const values = new Set(FIND_VALUES.split(" "));
  const effects: number[] = [];
  const operands: number[] = [];
  let at = 0;
  for (; at < args.length && !/^[-(!]/.test(args[at]!.text ?? "-"); at++) {
    operands.push(at);
    if (args[at]!.glob && /^[*?[]/.test(args[at]!.text ?? "")) effects.push(at);
  }
  for (; at < args.length; at++) {
    const text = args[at]!.text;
    if (text === "(" || text === ")" || text === "!" || text === ",") continue;
    const name = text?.slice(1) ?? "";
    if (text?.startsWith("-") && values.has(name)) {
      const { text: value, glob }: ShellWord = args[++at] ?? {};
      // A word with a glob may become several words, and the second one may be an action such as `-delete`.
      if (value === undefined || (glob && /^[-*?[]/.test(value))) effects.push(at);
    } else if (!text?.startsWith("-") || !tests.has(name)) effects.push(at);
  }
  return { ...NO_OPTIONS, effects, operands, paths: operands.flatMap((place) => args[place]!.text ?? []) };
}
