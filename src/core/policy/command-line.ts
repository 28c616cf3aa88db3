import { parseShell, type ShellCommand, type ShellWord } from "../shell/parse.ts";
import { defined } from "../text/defined.ts";

export type Line = Readonly<{
  /** The commands of the line; those inside `$(...)` precede the command that contains them. */
  commands: readonly ShellCommand[];
  /** Why the line cannot be parsed with certainty. */
  problem?: string;
  /** Whether the line changes the folder with `cd`: never, only to folders below the start folder, or to any folder. */
  moves: "no" | "inside" | "anywhere";
  /**
   * The folders that the commands of the line may run in, relative to the start folder; empty when they are not known.
   */
  folders: readonly string[];
}>;

/** Reads the commands of a command line. */
export function readLine(command: string): Line {
  const parsed = parseShell(command);
  if ("problem" in parsed) return { commands: [], problem: parsed.problem, moves: "anywhere", folders: [] };
  const { commands } = parsed;
  const problem = commands.map(problemOf).find((found) => found !== undefined);
  return { commands, ...movesOf(commands), ...defined({ problem }) };
}

function problemOf(command: ShellCommand): string | undefined {
  const [program] = command.words;
  if (program && (program.text === undefined || program.glob)) return "the program is only known at run time";
  return evaluates(command) ? "a shell builtin would evaluate one of its arguments" : undefined;
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

function movesOf(all: readonly ShellCommand[]): Pick<Line, "moves" | "folders"> {
  const moving = all.filter(({ words }) => /^(?:cd|pushd|popd|chdir)$/.test(words[0]?.text ?? ""));
  if (moving.length === 0) return { moves: "no", folders: [""] };
  const inside = moving.every(({ words }) => words[0]?.text === "cd" && words.length === 2 && isPlainly(words[1]!));
  if (!inside || all.some(setsSearchPath)) return { moves: "anywhere", folders: [] };
  return {
    moves: "inside",
    folders: moving.length > MOST_MOVES ? [] : foldersAfter(moving.map(({ words }) => words[1]?.text ?? "")),
  };
}

/** True for a command that sets CDPATH, in which `cd` searches for folders. */
const setsSearchPath = ({ sets, words }: ShellCommand): boolean =>
  sets.includes("CDPATH") || words.some(({ text }) => text?.startsWith("CDPATH"));

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
