import { commandsInArguments, commandsInInput, mayRun } from "../shell/arguments.ts";
import { commandsInCode } from "../shell/code.ts";
import { parseShell, type ShellCommand, type ShellWord } from "../shell/parse.ts";
import { runByVariables } from "../shell/variables.ts";
import { programName } from "../shell/program-name.ts";
import { unwrap } from "../shell/wrappers.ts";
import { defined } from "../text/defined.ts";

/** A command of a command line, with its inner commands, as `rm` in `xargs rm`. */
export type Part = Readonly<{
  command: ShellCommand;
  inner: readonly Part[];
  /** Commands that may be run: values of variables, and texts in code and arguments, read as command lines. */
  perhaps: readonly Part[];
  /**
   * The indexes of the command's words that may begin another command, for a program that may run one of its arguments.
   */
  mayRun: readonly number[];
  transparent: boolean;
  problem?: string;
}>;

export type Line = Readonly<{
  parts: readonly Part[];
  /** The commands of the line and the commands that they run. */
  all: readonly Part[];
  /** Why the line cannot be parsed with certainty. */
  problem?: string;
  /** Whether the line changes the folder with `cd`: never, only to folders below the start folder, or to any folder. */
  moves: "no" | "inside" | "anywhere";
  /**
   * The folders that the commands of the line may run in, relative to the start folder; empty when they are not known.
   */
  folders: readonly string[];
}>;

/** Reads a command line, with the commands that its commands run. */
export function readLine(command: string): Line {
  const parsed = parseShell(command);
  if ("problem" in parsed) return { parts: [], all: [], problem: parsed.problem, moves: "anywhere", folders: [] };
  const parts = parsed.commands.map((each) => partOf(each, 0));
  const all = parts.flatMap(flat);
  const problem = all.find((part) => part.problem !== undefined)?.problem;
  return { parts, all, ...movesOf(all), ...defined({ problem }) };
}

const DEEPEST = 10;

function partOf(command: ShellCommand, depth: number): Part {
  const hazard = evaluates(command) ? "a shell builtin would evaluate one of its arguments" : undefined;
  const wrapped = depth > DEEPEST ? { problem: "the command is nested too deeply" } : unwrap(command);
  const variables = runByVariables(command);
  const problem = hazard ?? (wrapped && "problem" in wrapped ? wrapped.problem : variables.problem);
  const {
    words: [first, ...args],
    input = [],
  } = command;
  const program = programName(first?.text ?? "");
  const perhaps = [
    ...variables.perhaps,
    ...commandsInCode(program, [...args, ...input]),
    ...(wrapped === undefined ? commandsInArguments(program, args) : []),
    ...(wrapped === undefined ? commandsInInput(program, args, input) : []),
  ];
  const inner = [...(wrapped && "inner" in wrapped ? wrapped.inner : []), ...variables.inner];
  return {
    command,
    inner: inner.map((each) => partOf(input.length === 0 ? each : { ...each, input }, depth + 1)),
    perhaps: depth > DEEPEST ? [] : perhaps.map((each) => withoutProblems(partOf(each, depth + 1))),
    transparent: wrapped !== undefined && "inner" in wrapped && wrapped.transparent,
    mayRun: wrapped === undefined ? mayRun(program, args).map((at) => at + 1) : [],
    ...defined({ problem }),
  };
}

/** A command, and the commands that it runs or may run. */
export const flat = (part: Part): Part[] => [part, ...[...part.inner, ...part.perhaps].flatMap(flat)];

/**
 * A command that may or may not run: deny rules apply to it, but an unreadable part of it is no reason to refuse the
 * line.
 */
function withoutProblems({ problem: _, inner, perhaps, ...part }: Part): Part {
  return { ...part, inner: inner.map(withoutProblems), perhaps: perhaps.map(withoutProblems) };
}

/** Commands that evaluate subscripts such as `a[$(command)]` even inside quotes. */
const EVALUATING = new Set([
  "test",
  "[",
  "printf",
  "read",
  "declare",
  "typeset",
  "local",
  "export",
  "readonly",
  "unset",
  "let",
  "getopts",
  "wait",
]);

function evaluates({ words }: ShellCommand): boolean {
  const program = words[0]?.text ?? "";
  if (!EVALUATING.has(program)) return false;
  const names = NAMES_VARIABLES.has(program)
    ? words
    : words.filter((_, at) => /^-[vR]$/.test(words[at - 1]?.text ?? ""));
  return words.some(({ text = "" }) => /\[[\s\S]*(?:\$|`)/.test(text)) || names.some(({ text }) => text === undefined);
}

/**
 * The commands in `EVALUATING` whose arguments are all names of variables. The other commands in that list take the
 * name of a variable only after `-v` or `-R`.
 */
const NAMES_VARIABLES = new Set(["unset", "let", "getopts"]);

function movesOf(all: readonly Part[]): Pick<Line, "moves" | "folders"> {
  const moving = all.filter(({ command }) => /^(?:cd|pushd|popd|chdir)$/.test(command.words[0]?.text ?? ""));
  if (moving.length === 0) return { moves: "no", folders: [""] };
  const inside = moving.every(
    ({ command: { words } }) => words[0]?.text === "cd" && words.length === 2 && isPlainly(words[1]!),
  );
  if (!inside || all.some(({ command }) => setsSearchPath(command))) return { moves: "anywhere", folders: [] };
  return {
    moves: "inside",
    folders: moving.length > MOST_MOVES ? [] : foldersAfter(moving.map(({ command }) => command.words[1]?.text ?? "")),
  };
}

/** True for a command that sets CDPATH, in which `cd` searches for folders. */
const setsSearchPath = ({ sets, words }: ShellCommand): boolean =>
  sets.some(({ name }) => name === "CDPATH") || words.some(({ text }) => text?.startsWith("CDPATH"));

/** Maximum number of `cd` commands in a line. Each of them can double the number of folders that have to be judged. */
const MOST_MOVES = 4;

/** Every folder that these `cd` commands may lead to. Each `cd` may fail, or may apply only inside of parentheses. */
const foldersAfter = (moves: readonly string[]): readonly string[] =>
  moves.reduce<readonly string[]>((before, to) => [...before, ...before.map((from) => `${from}${to}/`)], [""]);

/** True for a relative path that cannot lead out of its folder. */
function isPlainly({ text, glob, home }: ShellWord): boolean {
  return (
    text !== undefined &&
    !glob &&
    !home &&
    text !== "" &&
    !text.startsWith("/") &&
    !text.startsWith("-") &&
    !text.split("/").includes("..")
  );
}
