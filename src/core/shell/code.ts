import { parseShell, type ShellCommand, type ShellWord } from "./parse.ts";

/**
 * The commands that code on a command line may run, as in `perl -e 'system("rm a")'`: every text in quotes, and what
 * follows the sign for a shell command (`.shell rm a` in sqlite3). The code itself is not analysed.
 */
export function commandsInCode(program: string, args: readonly ShellWord[]): readonly ShellCommand[] {
  if (!INTERPRETER.test(program)) return [];
  const given = args.flatMap(({ text = "" }) => withLineEnds(text));
  const texts = new Set(given.flatMap((text) => [...quotedIn(text), ...afterSigns(text)]));
  return [...texts].flatMap(readAsCommands);
}

/** Programs that run code from their arguments, and clients of databases with a command for the shell. */
const INTERPRETER =
  /^(?:perl|python|pypy|ruby|node|nodejs|deno|bun|tsx|php|lua|luajit|tclsh|wish|guile|R|Rscript|julia|groovy|elixir|erl|osascript|emacs|gnuplot|m4|dc|ed|ex|sqlite3?|psql|mysql|mariadb)[\d.]*$/;

/**
 * Texts in quotes, including the quotes of `q!...!`, `%x(...)`, `$(...)` and Lua's `[[...]]`. Reads the code in a
 * single pass, however its quotes are nested.
 */
export function quotedIn(code: string): string[] {
  const found: string[] = [];
  const unclosed = new Set<string>();
  for (let at = 0; at < code.length; at++) {
    const close = closingOf(code, at);
    if (close === undefined || unclosed.has(close)) continue;
    const from = close.length === 1 ? at + 1 : at + close.length;
    const end = close.length === 1 ? endOf(code, from, close) : code.indexOf(close, from);
    if (end < 0) unclosed.add(close);
    else {
      found.push(
        code
          .slice(from, end)
          .replace(/\\([^])/g, "$1")
          .replace(/^shell\s+/, ""),
      );
      at = end;
    }
  }
  return found;
}

/**
 * The characters that close the quoted text which begins at this position; `undefined`: no quoted text begins there.
 */
function closingOf(code: string, at: number): string | undefined {
  const char = code.charAt(at);
  if (PLAIN_QUOTES.has(char)) return char;
  if (!/[^\w\s]/.test(char)) return undefined;
  const long = char === "[" ? /^\[(=*)\[/.exec(code.slice(at, at + 12)) : null;
  if (long) return `]${long[1]}]`;
  const before = code.slice(Math.max(at - 5, 0), at);
  if (Object.hasOwn(BRACKETS, char)) return /[qxwQ%$]\s*$/.test(before) ? BRACKETS[char] : undefined;
  return /(?:^|\W)q[qxw]?\s*$|%[qQwWx]?$/.test(before) && !/[=,;]/.test(char) ? char : undefined;
}

const PLAIN_QUOTES: ReadonlySet<string> = new Set(['"', "'", "`"]);

const BRACKETS: Readonly<Record<string, string>> = {
  "(": ")",
  "{": "}",
  "[": "]",
  "<": ">",
};

/** The place of the closing quote. A quote after a backslash does not close the text. */
function endOf(code: string, from: number, close: string): number {
  for (let at = from; at < code.length; at++) {
    if (code.charAt(at) === close) return at;
    if (code.charAt(at) === "\\") at++;
  }
  return -1;
}

/** A text, and the one that `printf` and `echo -e` make of it where its line ends are written as `\n`. */
export const withLineEnds = (text: string): string[] =>
  text.includes("\\n") ? [text, text.replaceAll("\\n", "\n")] : [text];

/** The command lines after the signs and words with which programs start a shell, as `!` does in ed, also behind a range. */
export const afterSigns = (code: string): string[] =>
  Array.from(
    code.matchAll(
      /(?:^|[\s;=])(?:\.(?:she?l?l?|syst?e?m?)\b|(?:\.\w+\s+["']?)\||\b(?:system|exec|spawn|pager)\b|\\P\b|~\||\\!|(?:[\d.,$%+~-]|'\w)*!|(?:e?syscmd)\(`?)\s*([^\n;')]+)/g,
    ),
    ([, line]) => line ?? "",
  );

/** A text as commands, without the files that it writes; empty if it cannot be read as commands. */
export function readAsCommands(text: string): readonly ShellCommand[] {
  const parsed = parseShell(text.replace(/^[!|&-]+/, ""));
  return "problem" in parsed ? [] : parsed.commands.map((each) => ({ ...each, redirects: [] }));
}
