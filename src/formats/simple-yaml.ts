import { CORE_SCHEMA } from "js-yaml";

/**
 * The value of the YAML that nearly every frontmatter is: keys on lines of their own with words, quoted words, lists, texts
 * and further keys below them. `undefined` for everything else, which is the parser's business. Where this reads a text, the
 * parser reads the same from it, several times slower in a program that has just started.
 */
export function readSimpleYaml(text: string, maxKeys: number): Record<string, unknown> | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const reader: Reader = { text, at: 0, keysLeft: maxKeys };
  skipEmpty(reader);
  if (reader.at >= text.length) return undefined;
  const map = mapping(reader, 0, 0);
  return map === MORE || reader.at < text.length ? undefined : map;
}

type Reader = { readonly text: string; at: number; keysLeft: number };

/** There is more to it than this reads. */
const MORE = Symbol("more");
const DEEPEST = 16;

/** Tabs, controls, odd spaces and what is no text: their rules are left to the parser. */
const UNUSUAL =
  /[\0-\x09\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff\ufeff\ufffe\uffff]/u;
const KEY = /^[A-Za-z_][\w-]{0,63}$/;
/** Keys that are no words. */
const NO_WORD = /^(?:true|false|null)$/i;
const BLOCK = /^[|>]-?$/;

/** Keys at one depth; the reader stands at the beginning of the first line, or `start` spaces into it. */
function mapping(reader: Reader, indent: number, level: number, start = 0): Record<string, unknown> | typeof MORE {
  if (level > DEEPEST) return MORE;
  const { text } = reader;
  const map = Object.create(null) as Record<string, unknown>;
  let from = reader.at + start;
  do {
    if (from - reader.at !== indent) return MORE;
    const colon = text.indexOf(":", from);
    const end = lineEnd(text, from);
    if (colon === -1 || colon >= end || (colon + 1 < end && text[colon + 1] !== " ")) return MORE;
    const key = text.slice(from, colon);
    if (!KEY.test(key) || NO_WORD.test(key) || key in map || --reader.keysLeft < 0) return MORE;
    const written = text.slice(colon + 1, end).trim();
    reader.at = end + 1;
    const value =
      written === ""
        ? below(reader, indent, level)
        : BLOCK.test(written)
          ? blockText(reader, written, indent)
          : scalarOrList(written);
    if (value === MORE) return MORE;
    map[key] = value;
    skipEmpty(reader);
    from = reader.at + indentAt(text, reader.at);
  } while (from - reader.at >= indent && reader.at < text.length);
  return map;
}

/** What stands on the lines below a key: items, further keys, or nothing, which is null. */
function below(reader: Reader, indent: number, level: number): unknown {
  skipEmpty(reader);
  const { text, at } = reader;
  if (at >= text.length) return null;
  const depth = indentAt(text, at);
  if (depth >= indent && text[at + depth] === "-") return sequence(reader, depth, level + 1);
  return depth > indent ? mapping(reader, depth, level + 1, depth) : null;
}

/** `- item` on each line, at one depth; an item may be keys. */
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
    } else {
      item = BLOCK.test(written) ? MORE : scalarOrList(written);
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

/** The lines below `|` or `>`. Lines that are folded and lie deeper than others have rules of their own. */
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

function scalarOrList(written: string): unknown {
  if (!written.startsWith("[")) return scalar(written);
  if (QUOTED_LIST.test(written)) return JSON.parse(written);
  if (!WORD_LIST.test(written)) return MORE;
  const inner = written.slice(1, -1);
  return inner.trim() === "" ? [] : inner.split(",").map((word) => resolved(word.trim()));
}

const QUOTED_LIST = /^\[ *"[^"\\]*"(?: *, *"[^"\\]*")* *\]$/;
const WORD_LIST = /^\[ *(?:[A-Za-z0-9_][\w./()*-]*(?: *, *[A-Za-z0-9_][\w./()*-]*)*)? *\]$/;

function scalar(written: string): unknown {
  if (written.startsWith('"')) return DOUBLE_QUOTED.test(written) ? JSON.parse(written) : MORE;
  if (written.startsWith("'")) return SINGLE_QUOTED.test(written) ? written.slice(1, -1).replaceAll("''", "'") : MORE;
  const plain = PLAIN_START.test(written) && !written.endsWith(":") && !written.includes(": ") && !written.includes(" #");
  return plain ? resolved(written) : MORE;
}

/** The escapes that mean the same in JSON. */
const DOUBLE_QUOTED = /^"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"$/;
const SINGLE_QUOTED = /^'[^']*(?:''[^']*)*'$/;
const PLAIN_START = /^[^-?:,[\]{}#&*!|>'"%@`]/;

/** What begins like a number or a constant is resolved as the parser does it; everything else is a text. */
const resolved = (word: string): unknown =>
  CONSTANT.test(word) ? CORE_SCHEMA.resolveImplicitScalarTag(word).value : word;

const CONSTANT = /^(?:[0-9.+~]|[tT][rR]|[fF][aA]|[nN][uU])/;

/** Goes to the next line that says something. */
function skipEmpty(reader: Reader): void {
  const { text } = reader;
  while (reader.at < text.length) {
    const first = text[reader.at + indentAt(text, reader.at)];
    if (first !== "\n" && first !== "#" && first !== undefined) return;
    reader.at = lineEnd(text, reader.at) + 1;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function indentAt(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  return at - start;
}

const SPACE = 32;
