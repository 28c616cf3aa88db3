import { textMatches } from "../rules/glob.ts";
import type { Rule } from "../rules/rule.ts";
import { effectsOf } from "../shell/known-commands.ts";
import type { ShellCommand, ShellWord } from "../shell/parse.ts";
import { programName } from "../shell/program-name.ts";
import { runnerIn } from "../shell/runners.ts";
import { mentions } from "./mentions.ts";

/** Whether a deny or ask rule names one of these commands: its program, and its further words behind that. */
export function isNamed({ pattern, exact }: Rule, line: string, commands: readonly ShellCommand[]): boolean {
  if (pattern === undefined) return true;
  if (exact) return line === pattern;
  const [program = "", ...words] = wordsOf(pattern).words;
  return commands.some(
    ({ words: [first, ...args] }) =>
      first?.text !== undefined &&
      textMatches(programName(program).toLowerCase(), programName(first.text).toLowerCase()) &&
      begins(words, args),
  );
}

/** Whether arguments begin with these words. Options and their values may stand between them, an option anywhere. */
function begins(words: readonly string[], args: readonly ShellWord[]): boolean {
  let [at, mayBeValue] = [0, false];
  for (const { text } of args) {
    const wanted = words[at];
    if (wanted === undefined) return true;
    if (text === undefined || textMatches(wanted, text)) at++;
    else if (!wanted.startsWith("-") && !text.startsWith("-") && !mayBeValue) return false;
    mayBeValue = text?.startsWith("-") === true && !text.includes("=");
  }
  return at === words.length;
}

/** Whether a line mentions the words of a deny or ask rule, wherever they stand. */
export function isMentioned({ pattern, exact }: Rule, line: string): boolean {
  return pattern !== undefined && !exact && mentions(wordsOf(pattern).words, line);
}

/** Whether the rules allow a command; `isRead` tells of commands that need no rule. */
export function isCovered(
  rules: readonly Rule[],
  { words, sets }: ShellCommand,
  isRead: (command: ShellCommand) => boolean = () => false,
  depth = 0,
): boolean {
  if (!sets.every(isHarmless)) return false;
  if (words.length === 0 || rules.some((rule) => spells(rule, words))) return true;
  const { isPrefix, runs } = runnerIn(words) ?? {};
  if (!isPrefix || runs === undefined || depth === DEEPEST) return false;
  const before = words.slice(1, runs).flatMap(({ text = "" }) => (text.includes("=") ? [text.split("=")[0]!] : []));
  const behind = { words: words.slice(runs), sets: before, redirects: [] };
  return isRead(behind) || isCovered(rules, behind, isRead, depth + 1);
}

/** Whether the words of a rule match a command. A rule without a pattern, and a rule for an exact text, have no words. */
export function spells({ pattern, exact }: Rule, given: readonly ShellWord[]): boolean {
  if (exact || pattern === undefined) return false;
  const { words, more } = wordsOf(pattern);
  if (given.length < words.length || (!more && given.length > words.length)) return false;
  const fits = words.every((word, at) => {
    const { text, glob, home } = given[at]!;
    return text !== undefined && !glob && !home && textMatches(word, text);
  });
  return fits && uncovered(given).every((at) => words[at] !== undefined && words[at] === given[at]?.text);
}

/**
 * The indexes of the words that no star covers: an option or subcommand of a known command that writes, runs or
 * configures, and a program that another one runs.
 */
function uncovered(given: readonly ShellWord[]): number[] {
  const spelled: number[] = [];
  const upTo = (from: number, end: number): void => {
    for (let at = from; at < end; at++) spelled.push(at);
  };
  let at = 0;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const runner = runnerIn(given.slice(at));
    if (runner === undefined) {
      const effects = effectsOf(programName(given[at]?.text ?? ""), given.slice(at + 1)) ?? [];
      return [...spelled, ...effects.map((place) => at + 1 + place)];
    }
    const { from, runs } = runner;
    upTo(at + from, runs === undefined ? given.length : at + runs + 1);
    if (runs === undefined) return spelled;
    at += runs;
  }
  upTo(at, given.length);
  return spelled;
}

/** How many programs may run one another on a line. */
const DEEPEST = 10;

/**
 * The words of a rule; a trailing star, or `:*`, which is how other programs write it, matches any number of further
 * words.
 */
export function wordsOf(pattern: string): { words: string[]; more: boolean } {
  const plain = pattern.trim().replace(/:\*$/, " *");
  const words = plain.split(/\s+/);
  const more = words.at(-1) === "*";
  return { words: more ? words.slice(0, -1) : words, more };
}

/** True for environment variables that only affect how output is displayed. */
export function isHarmless(name: string): boolean {
  return /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|CI|NODE_ENV|RUST_BACKTRACE)$/.test(
    name,
  );
}
