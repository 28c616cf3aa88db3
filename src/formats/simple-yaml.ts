import { CORE_SCHEMA } from "js-yaml";

/**
 * The value of the YAML that nearly every frontmatter is: keys at the margin with words, quoted words, lists and texts on
 * lines of their own. `undefined` for everything else, which is the parser's business; where this reads a text, the parser
 * reads the same from it, several times slower in a program that has just started.
 */
export function readSimpleYaml(text: string, maxKeys: number): Record<string, unknown> | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const map = Object.create(null) as Record<string, unknown>;
  let left = maxKeys;
  let at = 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const first = text[at];
    if (first === "#" || first === "\n") {
      at = end + 1;
      continue;
    }
    const colon = text.indexOf(":", at);
    if (colon === -1 || colon >= end || (colon + 1 < end && text[colon + 1] !== " ")) return undefined;
    const key = text.slice(at, colon);
    if (!KEY.test(key) || NO_WORD.test(key) || key in map || --left < 0) return undefined;
    const written = text.slice(colon + 1, end).trim();
    at = end + 1;
    const read =
      written === "" ? blockList(text, at) : BLOCK.test(written) ? blockText(text, at, written) : scalarOrList(written);
    if (read === undefined) return undefined;
    if (read instanceof Block) at = read.end;
    map[key] = read instanceof Block ? read.value : read;
  }
  return left < maxKeys ? map : undefined;
}

/** A value that goes on below its key; `end` is where the next line begins. */
class Block {
  readonly value: unknown;
  readonly end: number;
  constructor(value: unknown, end: number) {
    this.value = value;
    this.end = end;
  }
}

/** Tabs, controls, odd spaces and what is no text: their rules are left to the parser. */
const UNUSUAL =
  /[\0-\x09\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff\ufeff\ufffe\uffff]/u;
const KEY = /^[A-Za-z_][\w-]{0,63}$/;
/** Keys that are no words. */
const NO_WORD = /^(?:true|false|null)$/i;
const BLOCK = /^[|>]-?$/;

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** `- item` on each line, at one depth; nothing at all is null. */
function blockList(text: string, start: number): Block | undefined {
  const indent = indentAt(text, start);
  if (text[start + indent] !== "-") return indent > 0 ? undefined : new Block(null, start);
  const list: unknown[] = [];
  let at = start;
  while (at < text.length && text[at + indent] === "-" && indentAt(text, at) === indent) {
    const end = lineEnd(text, at);
    const item = text[at + indent + 1] === " " ? scalar(text.slice(at + indent + 2, end).trim()) : undefined;
    if (item === undefined) return undefined;
    list.push(item);
    at = end + 1;
  }
  return new Block(list, at);
}

function indentAt(text: string, start: number): number {
  let at = start;
  while (text[at] === " ") at++;
  return at - start;
}

/** The lines below `|` or `>`. Lines that are folded and lie deeper than others have rules of their own. */
function blockText(text: string, start: number, header: string): Block | undefined {
  const indent = indentAt(text, start);
  if (indent === 0 || start + indent >= text.length || text[start + indent] === "\n") return undefined;
  const folded = header.startsWith(">");
  let value = "";
  let breaks = 0;
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    if (end === at) breaks++;
    else {
      const depth = indentAt(text, at);
      if (depth === 0) break;
      if (depth < indent || at + depth === end || (folded && depth > indent)) return undefined;
      if (at > start) value += folded ? (breaks === 0 ? " " : "\n".repeat(breaks)) : "\n".repeat(breaks + 1);
      value += text.slice(at + indent, end);
      breaks = 0;
    }
    at = end + 1;
  }
  return new Block(header.endsWith("-") ? value : `${value}\n`, at);
}

function scalarOrList(written: string): unknown {
  if (!written.startsWith("[")) return scalar(written);
  if (QUOTED_LIST.test(written)) return JSON.parse(written);
  if (!WORD_LIST.test(written)) return undefined;
  const inner = written.slice(1, -1);
  return inner.trim() === "" ? [] : inner.split(",").map((word) => resolved(word.trim()));
}

const QUOTED_LIST = /^\[ *"[^"\\]*"(?: *, *"[^"\\]*")* *\]$/;
const WORD_LIST = /^\[ *(?:[A-Za-z0-9_][\w./()*-]*(?: *, *[A-Za-z0-9_][\w./()*-]*)*)? *\]$/;

/** A word or a quoted one; `undefined` for what is more than that. */
function scalar(written: string): unknown {
  if (written.startsWith('"')) return DOUBLE_QUOTED.test(written) ? JSON.parse(written) : undefined;
  if (written.startsWith("'"))
    return SINGLE_QUOTED.test(written) ? written.slice(1, -1).replaceAll("''", "'") : undefined;
  const plain =
    PLAIN_START.test(written) && !written.endsWith(":") && !written.includes(": ") && !written.includes(" #");
  return plain ? resolved(written) : undefined;
}

/** The escapes that mean the same in JSON. */
const DOUBLE_QUOTED = /^"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"$/;
const SINGLE_QUOTED = /^'[^']*(?:''[^']*)*'$/;
const PLAIN_START = /^[^-?:,[\]{}#&*!|>'"%@`]/;

/** What begins like a number or a constant is resolved as the parser does it; everything else is a text. */
const resolved = (word: string): unknown =>
  CONSTANT.test(word) ? CORE_SCHEMA.resolveImplicitScalarTag(word).value : word;

const CONSTANT = /^(?:[0-9.+~]|[tT][rR]|[fF][aA]|[nN][uU])/;
