import { flowValue } from "./simple-flow.ts";
import { indentAt, lineEnd, NO_WORDS, type Reader, skipEmpty } from "./simple-reader.ts";
import { MORE, simpleScalar, startsPlain } from "./simple-scalar.ts";

/** The parsed data; or the error and its line; or nothing if only the full parser can read the text. */
export type SimpleYaml =
  | { readonly value: Record<string, unknown> }
  | { readonly broken: string; readonly line: number }
  | undefined;

/**
 * Reads the simple YAML that nearly every frontmatter consists of: keys on separate lines with words, quoted words,
 * lists, texts and nested keys, and the two most common mistakes. It leaves everything else to the full parser.
 * Whatever it reads, the full parser reads the same way, but several times slower in a program that has just started.
 */
export function readSimpleYaml(text: string, maxKeys: number): SimpleYaml {
  if (UNUSUAL.test(text)) return undefined;
  const reader: Reader = { text, at: 0, keysLeft: maxKeys };
  skipEmpty(reader);
  if (reader.at >= text.length) return undefined;
  const value = mapping(reader, 0, 0);
  if (reader.broken !== undefined) return { broken: reader.broken, line: lineOf(reader) };
  return value === MORE || reader.at < text.length ? undefined : { value };
}

const DEEPEST = 16;

/** Matches text that is left to the full parser: tabs, control characters, unusual spaces and invalid text. */
const UNUSUAL =
  /[\0-\x09\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff\ufeff\ufffe\uffff]/u;
const KEY = /^[A-Za-z_][\w-]{0,63}$/;
const BLOCK = /^[|>]-?$/;

/** Parses keys at one depth; the reader is at the beginning of the first line, or `start` spaces into it. */
function mapping(reader: Reader, indent: number, level: number, start = 0): Record<string, unknown> | typeof MORE {
  if (level > DEEPEST) return MORE;
  const { text } = reader;
  const map = (level === 0 ? new Keys() : Object.create(null)) as Record<string, unknown>;
  let from = reader.at + start;
  do {
    if (from - reader.at !== indent) return MORE;
    const colon = text.indexOf(":", from);
    const end = lineEnd(text, from);
    if (colon === -1 || colon >= end || (colon + 1 < end && text[colon + 1] !== " ")) return MORE;
    const key = text.slice(from, colon);
    if (!KEY.test(key) || NO_WORDS.has(key) || key in map || --reader.keysLeft < 0) return MORE;
    const written = text.slice(colon + 1, end).trim();
    reader.at = end + 1;
    let value: unknown;
    switch (written[0]) {
      case undefined:
        value = below(reader, indent, level);
        break;
      case "[":
      case "{":
        reader.at = text.indexOf(written, from + key.length + 1);
        value = flowValue(reader, indent);
        break;
      case "|":
      case ">":
        value = BLOCK.test(written) ? blockText(reader, written, indent) : MORE;
        break;
      default:
        value = simpleScalar(written);
        if (value === MORE && level === 0) reader.broken = mistakeIn(key, written);
    }
    if (value === MORE) return MORE;
    map[key] = value;
    skipEmpty(reader);
    from = reader.at + indentAt(text, reader.at);
  } while (from - reader.at >= indent && reader.at < text.length);
  return map;
}

/**
 * The class of parsed mappings. Its prototype is empty and frozen, so a mapping has only its own keys. An object
 * without a prototype would behave the same, but the engine stores it as a hash table, which is slow for thousands of
 * files with the same keys.
 */
// oxlint-disable-next-line typescript/no-extraneous-class -- only its empty prototype is of use
class Keys {}
Object.setPrototypeOf(Keys.prototype, null);
Reflect.deleteProperty(Keys.prototype, "constructor");
Object.freeze(Keys.prototype);

/** Parses the lines below a key: items, further keys, or nothing, which is null. */
function below(reader: Reader, indent: number, level: number): unknown {
  skipEmpty(reader);
  const { text, at } = reader;
  if (at >= text.length) return null;
  const depth = indentAt(text, at);
  if (depth >= indent && text[at + depth] === "-") return sequence(reader, depth, level + 1);
  if (depth <= indent) return null;
  if (text[at + depth] !== "[" && text[at + depth] !== "{") return mapping(reader, depth, level + 1, depth);
  reader.at += depth;
  return flowValue(reader, indent);
}

/** Detects an unquoted value that contains `: `, and a star alone: no YAML parser accepts them. */
function mistakeIn(key: string, written: string): string | undefined {
  if (written === "*") return `the "*" of "${key}" is not in quotes`;
  const unquoted = startsPlain(written) && /: |:$/.test(written.replace(/ #.*$/, ""));
  return unquoted ? `the value of "${key}" contains ": " and is not in quotes` : undefined;
}

function lineOf({ text, at }: Reader): number {
  return text.slice(0, at - 1).split("\n").length;
}

/** Parses `- item` on each line, at one depth; an item may be a mapping. */
function sequence(reader: Reader, indent: number, level: number): unknown {
  if (level > DEEPEST) return MORE;
  const { text } = reader;
  const list: unknown[] = [];
  let depth = indent;
  while (depth === indent && text[reader.at + indent] === "-") {
    const dash = reader.at + indent;
    if (text[dash + 1] !== " ") return MORE;
    const end = lineEnd(text, dash);
    const written = text.slice(dash + 2, end).trim();
    let item: unknown;
    if (ENTRY.test(written)) {
      const column = indent + 2 + indentAt(text, dash + 2);
      item = mapping(reader, column, level + 1, column);
    } else if (written.startsWith("[") || written.startsWith("{")) {
      reader.at = text.indexOf(written, dash + 2);
      item = flowValue(reader, indent);
    } else {
      item = simpleScalar(written);
      reader.at = end + 1;
    }
    if (item === MORE) return MORE;
    list.push(item);
    skipEmpty(reader);
    depth = indentAt(text, reader.at);
  }
  return depth > indent && reader.at < text.length ? MORE : list;
}

const ENTRY = /^[A-Za-z_][\w-]{0,63}:(?: |$)/;

/** Parses the lines below `|` or `>`. Folded lines with deeper indentation are left to the full parser. */
function blockText(reader: Reader, header: string, outer: number): unknown {
  const { text, at: start } = reader;
  const indent = indentAt(text, start);
  if (indent <= outer || start + indent >= text.length || text[start + indent] === "\n") return MORE;
  const folded = header.startsWith(">");
  let value = "";
  let breaks = 0;
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    if (end === at) breaks++;
    else {
      const depth = indentAt(text, at);
      if (at + depth === end) return MORE;
      if (depth <= outer) break;
      if (depth < indent || (folded && depth > indent)) return MORE;
      if (at > start) value += folded ? (breaks === 0 ? " " : "\n".repeat(breaks)) : "\n".repeat(breaks + 1);
      value += text.slice(at + indent, end);
      breaks = 0;
    }
    at = end + 1;
  }
  reader.at = at;
  return header.endsWith("-") ? value : `${value}\n`;
}
