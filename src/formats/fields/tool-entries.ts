import { isRecord } from "../../core/text/json.ts";
import { canonicalName, foldName } from "../../core/vocabulary/tool-names.ts";

/**
 * A list of tools from a file: tools that it names, tools that it removes (`!Bash`), and items that are not valid
 * entries.
 */
export type ToolEntries = Readonly<{
  named: readonly string[];
  excluded: readonly string[];
  unread: readonly unknown[];
}>;

/**
 * Parses a list, comma-separated words or a text with one tool per line. An entry that YAML parsed as a map is
 * converted back: `- Bash(git log: *)`, `- Bash: git *`, `- name: Read`. `undefined` for anything that is not a list.
 */
export function toolEntries(value: unknown): ToolEntries | undefined {
  if (typeof value !== "string" && !Array.isArray(value)) return undefined;
  const found: Found = { named: [], excluded: [], unread: [] };
  if (typeof value === "string") addWords(found, withoutBrackets(value));
  else addItems(found, value as unknown[], DEEPEST);
  return found;
}

type Found = { named: string[]; excluded: string[]; unread: unknown[] };

/** How deep tool lists may be nested; they are flattened. */
const DEEPEST = 4;

function addItems(found: Found, items: readonly unknown[], deeper: number): void {
  for (const item of rejoined(items)) {
    if (typeof item === "string") addWords(found, item);
    else if (Array.isArray(item) && deeper > 0) addItems(found, item as unknown[], deeper - 1);
    else if (isRecord(item)) addRecord(found, item);
    else if (item !== null && item !== undefined) found.unread.push(item);
  }
}

/** Rejoins items of a flow list that YAML split at a comma inside parentheses: `[Bash(git log *, git diff *)]`. */
function rejoined(items: readonly unknown[]): unknown[] {
  const out: unknown[] = [];
  for (let at = 0; at < items.length; at++) {
    const end = typeof items[at] === "string" ? closing(items, at) : at;
    out.push(end > at ? items.slice(at, end + 1).join(", ") : items[at]);
    at = end;
  }
  return out;
}

/**
 * Finds the end of parentheses that an item opens. Returns the index of the item that closes them, or the index of the
 * given item if they close in it or never.
 */
function closing(items: readonly unknown[], from: number): number {
  let open = 0;
  for (let at = from; at < items.length; at++) {
    const item = items[at];
    if (typeof item !== "string") return from;
    for (const char of item) open += char === "(" ? 1 : char === ")" ? -1 : 0;
    if (open <= 0) return at;
  }
  return from;
}

/** Adds an item that is a map. */
function addRecord(found: Found, item: Readonly<Record<string, unknown>>): void {
  const { name, tool, id } = item;
  const called = [name, tool, id].find((each) => typeof each === "string");
  if (typeof called === "string") return addWords(found, called);
  for (const [key, value] of Object.entries(item)) {
    if (key.includes("(") && typeof value === "string") addWords(found, `${key}: ${value}`);
    else if (value === false) found.excluded.push(key);
    else if (value === true || value === null) addWords(found, key);
    else if (typeof value === "string") found.named.push(`${key}(${value})`);
    else if (Array.isArray(value) && value.every((each) => typeof each === "string"))
      found.named.push(...value.map((each) => `${key}(${each})`));
    else found.unread.push({ [key]: value });
  }
}

function addWords(found: Found, text: string): void {
  for (const each of partsOf(text)) {
    const part = each.trim();
    if (canonicalName(part) !== undefined) {
      found.named.push(part); // nearly every entry is the plain name of a tool, which needs no further parsing
      continue;
    }
    const word = unquoted(part.replace(BULLET, ""));
    if (word === "") continue;
    const taken = NEGATIVE.exec(word)?.[1]?.trim();
    if (taken === undefined) found.named.push(word);
    else found.excluded.push(unquoted(taken));
  }
}

const BULLET = /^(?:[-*•]\s+)+/;
/** Matches `!Bash`, `-Bash` and `no Bash`, which remove a tool. */
const NEGATIVE = /^(?:[!^-]\s*|(?:no|not|without|except|excluding|never|deny)\s+)([\w@*`"'][^\s()]*(?:\s*\(.*\))?)$/is;

const withoutBrackets = (text: string): string => {
  const trimmed = text.trim();
  return trimmed.startsWith("[") || trimmed.endsWith("]") ? trimmed.replace(/^\[|\]$/g, "") : trimmed;
};

/** Splits at commas, semicolons, bars and line ends outside of parentheses: `Read, Agent(a, b)` gives two parts. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (SEPARATORS.includes(char) && (depth === 0 || !text.includes(")", at))) {
      parts.push(text.slice(start, at));
      start = at + 1;
      depth = 0;
    }
  }
  return [...parts, text.slice(start)];
}

const SEPARATORS = ",;|\n";

const unquoted = (word: string): string => /^(["'`])(.*)\1$/s.exec(word)?.[2]?.trim() ?? word;

/** True for a word that means that the agent has no tools. */
export const isNone = (word: string): boolean => NONE.has(foldName(word));

const NONE: ReadonlySet<string> = new Set(["none", "nothing", "no", "false", "null", "empty"]);

/** The tool name in an entry such as `Tool(rule)`. */
export const withoutRule = (entry: string): string =>
  entry.endsWith(")") ? (/^([^()]+)\(.*\)$/s.exec(entry)?.[1]?.trim() ?? entry) : entry;
/** The rule in an entry such as `Tool(rule)`. */
export const ruleOf = (entry: string): string => /\((.*)\)$/s.exec(entry)?.[1]?.trim() ?? "";

/** The patterns in `Bash(git log *, git diff *)`, as separate texts. */
export const patternsIn = (pattern: string): string[] =>
  pattern
    .split(/,\s+(?![^{]*\})/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
