import { foldName } from "../../core/vocabulary/tool-names.ts";
import { restrictedBy } from "./restricting-keys.ts";

/** Repaired YAML; `lossy` if a line about permissions may have been read as part of another value. */
export type Repaired = Readonly<{ yaml: string; lossy: boolean }>;

/**
 * The same YAML, with quotes around the top-level values that are not valid without quotes: `description: uses: this`,
 * `tools: *`, an unclosed bracket, text that continues over lines.
 */
export function repaired(yaml: string): Repaired {
  const out: string[] = [];
  let lossy = false;
  for (const { key, value, more } of entriesOf(yaml)) {
    const lines = key === undefined ? undefined : mended(key, value, more);
    if (lines?.length === 1 || (/^[|>]/.test(value) && !PROSE.test(key ?? ""))) lossy ||= more.some(namesRights);
    out.push(...(lines ?? more));
    if (lines?.length === 1) out.push(...more.filter((line) => /^\s*#(?:\s|$)/.test(line))); // comments between the lines are kept
  }
  return { yaml: out.join("\n"), lossy };
}

/** Keys whose value is a text, in which a line such as `Tools: ...` is no field. */
const PROSE = /description|prompt|instruction|message|when/i;

/** Whether a line begins with a key that restricts the agent, or has one in braces. */
const namesRights = (line: string): boolean =>
  Array.from(line.matchAll(/([\w-]+)["']?\s*[:：=]/g)).some(
    ({ 1: key = "", index }) =>
      restrictedBy(key) !== undefined && /^(?:[\s"'{,[]*|\s*\{.*[\s"'{,])$/.test(line.slice(0, index)),
  );

/** Reads only the lines of the form `key: value`, as oh-my-pi does for a file that cannot be parsed. */
export function readLines(yaml: string): { readonly data: Record<string, unknown>; readonly conflict?: string } {
  const data = Object.create(null) as Record<string, unknown>;
  const seen = new Map<string, string>();
  for (const { key, value, more } of entriesOf(yaml)) {
    if (key === undefined) continue;
    const folded = foldName(key);
    // oh-my-pi ignores hyphenated keys, but a key that restricts the agent is never ignored
    if (/\W/.test(key) && restrictedBy(key) === undefined) continue;
    const text = `${value}\n${more.join("\n")}`;
    const earlier = seen.get(folded);
    if (earlier !== undefined && earlier !== text && (folded === "name" || restrictedBy(key) !== undefined))
      return { data, conflict: key };
    if (earlier !== undefined) continue;
    seen.set(folded, text);
    data[key] = lineValue(value, more, key);
  }
  return { data };
}

type Entry = { readonly key: string | undefined; readonly value: string; readonly more: string[] };

/** Keys that people indent by accident; any other indented line belongs to the value above it. */
const STRAY = /^ {1,3}([\w-]+):(?: |$)/;
const isStray = (key: string): boolean =>
  /^(?:name|description|model|color)$/.test(key) || restrictedBy(key) !== undefined;
const KEY = /^(["']?)([A-Za-z_][\w.-]*)\1[ \t]*(?::(?:[ \t]+(.*))?|：[ \t]*(.*))$/;
/** A key without a blank or with an equals sign, which counts only if it restricts: `tools:Read`, `tools = Read`. */
const LOOSE_KEY = /^(["']?)([\w-]+)\1[ \t]*[:=][ \t]*(.+)$/;

function keyOf(line: string): RegExpExecArray | null {
  const loose = KEY.test(line) ? null : LOOSE_KEY.exec(line);
  return loose && restrictedBy(loose[2]!) !== undefined ? loose : KEY.exec(line);
}

/** Each top-level key with its value and the lines that belong to it. */
function entriesOf(yaml: string): Entry[] {
  const entries: Entry[] = [];
  let previous: Entry | undefined;
  for (const written of yaml.replace(/\n$/, "").split("\n")) {
    const line = untabbed(written);
    const stray =
      previous !== undefined &&
      previous.value !== "" &&
      !/^[|>]/.test(previous.value) &&
      isStray(STRAY.exec(line)?.[1] ?? "");
    const match = keyOf(stray ? line.trimStart() : line);
    if (match !== null) {
      const value = (match[3] ?? match[4] ?? "").trim();
      previous = { key: match[2]!, value: match[1] === "" ? value : value.replace(/,$/, ""), more: [] };
      entries.push(previous);
    } else if (previous !== undefined) {
      previous.more.push(line);
    } else if (line.trim() !== "") {
      entries.push({ key: undefined, value: "", more: [line] });
    }
  }
  return entries;
}

/** Replaces tabs and non-breaking spaces by spaces, since YAML does not accept them as indentation. */
const untabbed = (line: string): string =>
  line
    .replace(/^[\s\u200b]+/, (indent) => indent.replace(/[^\S ]|\u200b/g, "  "))
    .replace(/^( *[\w.-]+:)[^\S \t]+/, "$1 ");

/** The lines of one entry, with its value quoted where it would not be parsed unchanged. */
function mended(key: string, value: string, more: readonly string[]): string[] {
  const tagged = /^!(?!!)[\w/:.-]+\s+(?=\S)/.exec(value)?.[0];
  // A YAML tag that only other programs understand, such as `!Ref`, is removed, and its value is kept.
  if (tagged !== undefined) return mended(key, value.slice(tagged.length), more);
  const whole = [`${key}: ${value}`.trimEnd(), ...more];
  if (value === "" || /^[|>][-+\d]*(?:\s+#.*)?$/.test(value)) return whole;
  const content = more.filter((line) => line.trim() !== "" && !/^\s*#/.test(line));
  if (content.length === 0) return isSafe(value) ? whole : [`${key}: ${quoted(value)}`];
  if (/^[[{]/.test(value) && /[\]}]\s*,?$/.test(content.at(-1)!.trim())) return whole;
  if (/^["']/.test(value) && content.at(-1)!.trim().endsWith(value[0]!)) return whole;
  const lines = [unquoted(value), ...trimmed(partsOf(key, content))];
  return [`${key}: ${grants(key) ? JSON.stringify(entriesIn(lines)) : quoted(lines.join(" "))}`];
}

/**
 * The lines of a value. If the value grants permissions, unindented lines and lines without a word do not belong to it,
 * so that an allow-list cannot grow by accident.
 */
const partsOf = (key: string, lines: readonly string[]): readonly string[] =>
  grants(key) ? lines.filter((line) => /^\s/.test(line) && /[\p{L}\p{N}]/u.test(line)) : lines;

const trimmed = (lines: readonly string[]): string[] => lines.map((line) => line.trim());

/**
 * The lines of a list as one text in which a line does not change the entry below it; a rule in parentheses stays on
 * one line.
 */
const entriesIn = (lines: readonly string[]): string =>
  lines.reduce((text, line) => `${text}${text.lastIndexOf("(") > text.lastIndexOf(")") ? " " : "\n"}${line}`);

/** True for a key whose value grants permissions. */
const grants = (key: string): boolean => /^(?:tools|spawns)$/.test(restrictedBy(key) ?? "");

/** True for a value that strict YAML reads as one scalar or one flow collection. */
function isSafe(value: string): boolean {
  if (/^'(?:[^']|'')*'\s*(?:#.*)?$/.test(value) || /^"(?:[^"\\]|\\.)*"\s*(?:#.*)?$/.test(value)) return true;
  if (/^\[.*\]\s*(?:#.*)?$/.test(value) || /^\{.*\}\s*(?:#.*)?$/.test(value))
    return !value.includes("[ *") && !value.includes("[*");
  if (/^[[\]{}"'*&!%@`|>,?#]/.test(value) || value.startsWith("- ")) return false;
  return !/:(?:\s|$)/.test(value.replace(/\s#.*$/, ""));
}

/** A value without its quotes, if it is quoted. */
const unquoted = (value: string): string => (isSafe(value) ? (/^(["'])(.*)\1$/.exec(value)?.[2] ?? value) : value);

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;

function lineValue(value: string, more: readonly string[], key: string): unknown {
  const own = partsOf(key, more);
  if (/^[|>][-+\d]*$/.test(value)) return blockText(value, own);
  const bare = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  if (/^[[{]/.test(bare) && !/[\]}]$/.test(bare))
    return grants(key) ? entriesIn([bare, ...trimmed(own)]) : [bare, ...trimmed(own)].join(" ");
  if (bare !== "") {
    const numbers = /^-?\d+(?:\.\d+)?$/.test(bare);
    return numbers ? Number(bare) : bare === "true" ? true : bare === "false" ? false : bare;
  }
  const items = more
    .filter((line) => line.trim() !== "")
    .map((line) =>
      (/^\s*-\s+(.+)$/.exec(line) ?? /^\s+["']?([\w./:*-]+?)["']?\s*:\s*true\s*$/.exec(line))?.[1]?.trim(),
    );
  const named = items.filter((item) => item !== undefined);
  if (items.length > 0 && named.length === items.length) return named;
  // If a key that restricts the agent has invalid lines, its readable items are kept; without any, it counts as the
  // empty list, not as "everything".
  if (restrictedBy(key) !== undefined) return named.length > 0 ? named : null;
  return "";
}

/** The text of the lines below `|` or `>`. */
function blockText(header: string, more: readonly string[]): string {
  const lines = more.map((line) => line.trim());
  return (header.startsWith(">") ? lines.join(" ") : lines.join("\n")).trim();
}
