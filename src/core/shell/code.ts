import { parseShell, type ShellCommand, type ShellWord } from "./parse.ts";

/**
 * The commands that code on a command line may run, as in `perl -e 'system("rm a")'`: every text in quotes, and what
 * follows the sign for a shell command (`.shell rm a` in sqlite3). The code itself is not analysed.
 */
export function commandsInCode(program: string, args: readonly ShellWord[]): readonly ShellCommand[] {
  if (!INTERPRETER.test(program)) return [];
  const texts = new Set(args.flatMap(({ text = "" }) => [...quotedIn(text), ...afterSigns(text)]));
  return [...texts].flatMap(readAsCommands);
}

/** Programs that run code from their arguments, and clients of databases with a command for the shell. */
const INTERPRETER =
  /^(?:perl|python|pypy|ruby|node|nodejs|deno|bun|tsx|php|lua|luajit|tclsh|wish|guile|R|Rscript|julia|groovy|elixir|erl|osascript|emacs|gnuplot|m4|dc|ed|ex|sqlite3?|psql|mysql|mariadb)[\d.]*$/;

/** Texts in quotes, and in the brackets of `qx(...)` and `%x(...)`. Reads the code once, however its quotes are nested. */
function quotedIn(code: string): string[] {
  const found: string[] = [];
  const unclosed = new Set<string>();
  for (let at = 0; at < code.length; at++) {
    const close = QUOTES[code.charAt(at)];
    if (
      close === undefined ||
      unclosed.has(close) ||
      (close !== code.charAt(at) && !/[qxwQ%]\s*$/.test(code.slice(Math.max(at - 4, 0), at)))
    )
      continue;
    const end = endOf(code, at + 1, close);
    if (end < 0) unclosed.add(close);
    else {
      found.push(code.slice(at + 1, end).replace(/\\([^])/g, "$1"));
      at = end;
    }
  }
  return found;
}

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "(": ")",
  "{": "}",
  "[": "]",
  "<": ">",
};

/** The place of the closing quote; a character after a backslash closes nothing. */
function endOf(code: string, from: number, close: string): number {
  for (let at = from; at < code.length; at++) {
    if (code.charAt(at) === close) return at;
    if (code.charAt(at) === "\\") at++;
  }
  return -1;
}

const afterSigns = (code: string): string[] =>
  Array.from(
    code.matchAll(
      /(?:^|[\s;=])(?:\.(?:shell|system)|(?:\.(?:once|output)\s+["']?)\||\bsystem\b|\\?!|(?:e?syscmd)\(`?)\s*([^\n;')]+)/g,
    ),
    ([, line]) => line ?? "",
  );

/** A text as commands, without the files that it writes; none if it cannot be read as commands. */
export function readAsCommands(text: string): readonly ShellCommand[] {
  const parsed = parseShell(text.replace(/^[!|&-]+/, ""));
  return "problem" in parsed ? [] : parsed.commands.map((each) => ({ ...each, redirects: [] }));
}
