import { words } from "../text/words.ts";

/**
 * Parses a command line as bash would, and reports a problem if the result is not certain: the policy judges commands
 * by their words, so it must know all of them. Loops, functions, here-documents, arithmetic, brace expansion, arrays
 * and every expansion except plain `$NAME` and `$(...)` are not supported.
 */
export function parseShell(line: string): ParsedShell {
  if (line.length > LONGEST) return { problem: `the command is longer than ${LONGEST} characters` };
  const hidden = HIDDEN.exec(line);
  if (hidden !== null)
    return {
      problem: `the command contains the hidden character U+${hidden[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
    };
  const reader: Reader = { line, at: 0, commands: [], depth: 0 };
  try {
    readList(reader, undefined);
    return { commands: reader.commands };
  } catch (thrown) {
    if (thrown instanceof Unreadable) return { problem: thrown.message };
    throw thrown;
  }
}

export type ParsedShell = Readonly<{ commands: readonly ShellCommand[] }> | Readonly<{ problem: string }>;

/**
 * One command with its words after quotes were removed. Commands inside `$(...)` precede the command that contains
 * them.
 */
export type ShellCommand = Readonly<{
  words: readonly ShellWord[];
  /** Names of the variables that are set before the command, or without a command. */
  sets: readonly string[];
  redirects: readonly ShellRedirect[];
}>;

/** A word; its text is absent when it is only known at run time. */
export type ShellWord = Readonly<{
  text?: string;
  /** True: the shell replaces the word by matching file names. */
  glob?: true;
  /** True: the word begins with an unquoted `~`. */
  home?: true;
}>;

/** A redirection to or from a file; duplicated descriptors are not included. */
export type ShellRedirect = Readonly<{ writes: boolean; target: ShellWord }>;

/** The problem of an escaped line end. The shell removes it before it splits words, so it can occur inside any word. */
const SPLIT = "a line ends in the middle of a word";
const LONGEST = 65_536;
const DEEPEST = 20;

/** Matches control characters, white space that a shell does not split at, and marks that reorder or hide text. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/u;

const KEYWORDS = new Set(
  words("if then else elif fi for while until do done case esac select function in coproc { } ! [[ ]]"),
);

class Unreadable extends Error {}

type Reader = { readonly line: string; at: number; readonly commands: ShellCommand[]; depth: number };

/** Reads commands and separators, up to the end of the line or a closing parenthesis. */
function readList(reader: Reader, close: ")" | undefined): void {
  if (++reader.depth > DEEPEST) throw new Unreadable("the command is nested too deeply");
  let awaits = true; // true where a command must follow, so that a separator is not allowed
  for (;;) {
    skipBlanks(reader);
    const char = reader.line.charAt(reader.at);
    if (char === "") {
      if (close !== undefined) throw new Unreadable("a parenthesis is not closed");
      break;
    }
    if (char === ")") {
      if (close === undefined) throw new Unreadable("a parenthesis was never opened");
      reader.at++;
      break;
    }
    if (char === "\n") {
      reader.at++;
      awaits = true;
    } else if (char === "#") skipComment(reader);
    else if (isSeparator(char) && !startsWith(reader, "&>")) {
      if (awaits) throw new Unreadable(`no command precedes "${char}"`);
      skipSeparator(reader);
      awaits = true;
    } else {
      if (!awaits) throw new Unreadable("two commands are not separated");
      if (char === "(") readGroup(reader);
      else readCommand(reader);
      awaits = false;
    }
  }
  reader.depth--;
}

const SEPARATORS = ["&&", "||", "|&", ";", "|", "&"];
const isSeparator = (char: string): boolean => char === ";" || char === "|" || char === "&";

function skipSeparator(reader: Reader): void {
  const separator = SEPARATORS.find((each) => startsWith(reader, each))!;
  reader.at += separator.length;
  const next = reader.line.charAt(reader.at);
  if (separator === ";" && (next === ";" || next === "&"))
    throw new Unreadable(`";${next}" is only valid in a case statement`);
  if (separator.length === 2 && isSeparator(next) && !startsWith(reader, "&>"))
    throw new Unreadable(`"${separator}${next}" is not an operator`);
}

function readGroup(reader: Reader): void {
  if (startsWith(reader, "((")) throw new Unreadable("the command uses arithmetic, ((");
  reader.at++;
  readList(reader, ")");
  skipBlanks(reader);
  const redirects = readRedirects(reader);
  if (redirects.length > 0) reader.commands.push({ words: [], sets: [], redirects });
}

function readRedirects(reader: Reader): ShellRedirect[] {
  const redirects: ShellRedirect[] = [];
  for (;;) {
    skipBlanks(reader);
    if (!/^(?:\d*[<>]|&>)/.test(reader.line.slice(reader.at, reader.at + 12))) return redirects;
    reader.at += /^\d*/.exec(reader.line.slice(reader.at, reader.at + 12))![0].length;
    readRedirect(reader, redirects);
  }
}

function readCommand(reader: Reader): void {
  const found: ShellWord[] = [];
  const sets: string[] = [];
  const redirects: ShellRedirect[] = [];
  for (;;) {
    skipBlanks(reader);
    const char = reader.line.charAt(reader.at);
    if (startsWith(reader, "&>") || char === "<" || char === ">") {
      readRedirect(reader, redirects);
      continue;
    }
    if (char === "" || char === "\n" || char === ")" || isSeparator(char)) break;
    if (char === "(") throw new Unreadable('"(" stands inside a command');
    if (char === "#") {
      skipComment(reader);
      break;
    }
    const { word, raw, plain } = readWord(reader);
    const next = reader.line.charAt(reader.at);
    if (plain && (next === "<" || next === ">") && /^\d+$/.test(raw)) readRedirect(reader, redirects);
    else if (found.length === 0 && plain && KEYWORDS.has(raw))
      throw new Unreadable(`"${raw}" begins a construct that is not supported`);
    else if (found.length === 0 && /^[A-Za-z_]\w*\+?=/.test(raw)) sets.push(/^\w+/.exec(raw)![0]);
    else if (found.length === 0 && /^[A-Za-z_]\w*\[/.test(raw))
      throw new Unreadable("the command assigns to an array element");
    else found.push(word);
  }
  reader.commands.push({ words: found, sets, redirects });
}

const OPERATORS = ["&>>", "&>", "<<<", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];

function readRedirect(reader: Reader, redirects: ShellRedirect[]): void {
  const operator = OPERATORS.find((each) => startsWith(reader, each))!;
  reader.at += operator.length;
  if (operator === "<<") throw new Unreadable("the command contains a here-document");
  if (reader.line.charAt(reader.at) === "(") throw new Unreadable("the command uses process substitution, <( or >(");
  skipBlanks(reader);
  const { word, raw, plain } = readWord(reader);
  if (raw === "") throw new Unreadable(`"${operator}" has no target`);
  if (operator === "<<<") return;
  if ((operator === ">&" || operator === "<&") && plain && /^(?:\d+-?|-)$/.test(raw)) return;
  if (operator === "<&") throw new Unreadable('"<&" names no descriptor');
  redirects.push({ writes: operator !== "<", target: word });
}

type Read = Readonly<{
  word: ShellWord;
  raw: string;
  /** True: the word contains no quotes and no expansions. */
  plain: boolean;
}>;

function readWord(reader: Reader): Read {
  const { line } = reader;
  const start = reader.at;
  let text = "";
  let [known, glob, quoted] = [true, false, false];
  let bracket = -1;
  const home = line.charAt(start) === "~";
  for (;;) {
    const char = line.charAt(reader.at);
    if (char === "" || /[\s;|&<>()]/.test(char)) break;
    if (char === "'") {
      const end = line.indexOf("'", reader.at + 1);
      if (end < 0) throw new Unreadable("a quote is not closed");
      text += line.slice(reader.at + 1, end);
      reader.at = end + 1;
      quoted = true;
    } else if (char === '"') {
      const inner = readQuoted(reader);
      known &&= inner.known;
      text += inner.text;
      quoted = true;
    } else if (char === "\\") {
      const next = line.charAt(reader.at + 1);
      if (next === "") throw new Unreadable("the command ends with a backslash");
      if (next === "\n") throw new Unreadable(SPLIT);
      text += next;
      reader.at += 2;
      quoted = true;
    } else if (char === "$") {
      const literal = readExpansion(reader, false);
      known &&= literal !== "";
      text += literal;
    } else if (char === "`") throw new Unreadable("the command runs a command in backquotes");
    else {
      if (char === "{" || char === "}") readBrace(reader, start);
      glob ||= char === "*" || char === "?";
      if (char === "[" && bracket < 0) bracket = text.length;
      text += char;
      reader.at++;
    }
  }
  if (line.charAt(reader.at) === "(") throw new Unreadable('"(" stands inside a word');
  const raw = line.slice(start, reader.at);
  glob ||= bracket >= 0 && (!known || text.includes("]", bracket));
  const word: ShellWord = {
    ...(known && { text }),
    ...(glob && { glob: true as const }),
    ...(home && { home: true as const }),
  };
  return { word, raw, plain: !quoted && known };
}

/** Reads a brace; only a literal `{}` is allowed. */
function readBrace({ line, at }: Reader, start: number): void {
  const whole = line.slice(start).match(/^\{\}(?=[\s;|&<>()]|$)/);
  if (whole === null && !(at === start && /^[{}](?=[\s;|&<>()]|$)/.test(line.slice(at))))
    throw new Unreadable("the command contains a brace expansion");
}

/** Reads text in double quotes; it is not known if it has an expansion. */
function readQuoted(reader: Reader): { text: string; known: boolean } {
  const { line } = reader;
  let text = "";
  let known = true;
  reader.at++;
  for (;;) {
    const char = line.charAt(reader.at);
    if (char === "") throw new Unreadable("a quote is not closed");
    if (char === '"') {
      reader.at++;
      return { text, known };
    }
    if (char === "`") throw new Unreadable("the command runs a command in backquotes");
    if (char === "$") {
      const literal = readExpansion(reader, true);
      known &&= literal !== "";
      text += literal;
    } else if (char === "\\" && /[$`"\\\n]/.test(line.charAt(reader.at + 1))) {
      const next = line.charAt(reader.at + 1);
      if (next === "\n") throw new Unreadable(SPLIT);
      text += next;
      reader.at += 2;
    } else {
      text += char;
      reader.at++;
    }
  }
}

/** Consumes a `$` and the expansion that it starts, and returns ""; returns "$" where it is a plain character. */
function readExpansion(reader: Reader, inQuotes: boolean): "" | "$" {
  const rest = reader.line.slice(reader.at + 1, reader.at + 200);
  if (rest.startsWith("((")) throw new Unreadable("the command uses arithmetic, $((");
  if (rest.startsWith("(")) {
    reader.at += 2;
    readList(reader, ")");
    return "";
  }
  if (rest.startsWith("[")) throw new Unreadable("the command uses arithmetic, $[");
  if (!inQuotes && /^['"]/.test(rest)) throw new Unreadable("the command contains a quote of the form $'...'");
  const name = /^(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[?#$!@*\-0-9])/.exec(rest);
  if (name !== null) {
    reader.at += 1 + name[0].length;
    return "";
  }
  if (rest.startsWith("{"))
    throw new Unreadable("the command expands a variable in a way that can run or set something");
  reader.at++;
  return "$";
}

function skipBlanks(reader: Reader): void {
  for (;;) {
    const char = reader.line.charAt(reader.at);
    if (char === " " || char === "\t") reader.at++;
    else if (startsWith(reader, "\\\n")) reader.at += 2;
    else return;
  }
}

function skipComment(reader: Reader): void {
  const end = reader.line.indexOf("\n", reader.at);
  reader.at = end < 0 ? reader.line.length : end;
}

const startsWith = ({ line, at }: Reader, text: string): boolean => line.startsWith(text, at);
