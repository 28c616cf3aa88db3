import { indentAt, lineEnd, NO_WORDS, type Reader } from "./simple-reader.ts";
import { MORE, simpleScalar } from "./simple-scalar.ts";

const DEEPEST = 16;

/** Parses a list or mapping in brackets, which may span lines indented deeper than `outer`; nothing may follow it. */
export function flowValue(reader: Reader, outer: number): unknown {
  const { text } = reader;
  const value = flow(reader, outer, 0);
  if (value === MORE) return MORE;
  const end = lineEnd(text, reader.at);
  if (text.slice(reader.at, end).trim() !== "") return MORE;
  reader.at = end + 1;
  return value;
}

function flow(reader: Reader, outer: number, level: number): unknown {
  const { text } = reader;
  const first = text[reader.at];
  if (first === "[" || first === "{") {
    reader.at++;
    if (level > DEEPEST || !skipSpace(reader, outer)) return MORE;
    return first === "[" ? flowList(reader, outer, level) : flowMap(reader, outer, level);
  }
  FLOW_WORD.lastIndex = reader.at;
  const written = FLOW_WORD.exec(text)?.[0];
  if (written === undefined) return MORE;
  reader.at += written.length;
  return simpleScalar(written.trimEnd());
}

function flowList(reader: Reader, outer: number, level: number): unknown {
  const list: unknown[] = [];
  if (reader.text[reader.at] === "]") return (reader.at++, list);
  for (;;) {
    const item = flow(reader, outer, level + 1);
    if (item === MORE) return MORE;
    list.push(item);
    const end = flowEnd(reader, "]", outer);
    if (end !== undefined) return end ? list : MORE;
  }
}

function flowMap(reader: Reader, outer: number, level: number): unknown {
  const map = Object.create(null) as Record<string, unknown>;
  if (reader.text[reader.at] === "}") return (reader.at++, map);
  for (;;) {
    FLOW_KEY.lastIndex = reader.at;
    const found = FLOW_KEY.exec(reader.text);
    const key = found?.[1];
    if (found === null || key === undefined || NO_WORDS.has(key) || key in map || --reader.keysLeft < 0) return MORE;
    reader.at += found[0].length;
    const value = flow(reader, outer, level + 1);
    if (value === MORE) return MORE;
    map[key] = value;
    const end = flowEnd(reader, "}", outer);
    if (end !== undefined) return end ? map : MORE;
  }
}

/**
 * Reads up to the next item in brackets: true at the closing bracket, false for a syntax error, `undefined` after a
 * comma.
 */
function flowEnd(reader: Reader, bracket: string, outer: number): boolean | undefined {
  if (!skipSpace(reader, outer)) return false;
  const char = reader.text[reader.at++];
  if (char === bracket) return true;
  return char === "," && skipSpace(reader, outer) ? undefined : false;
}

/** Skips spaces and newlines; false where a line is not indented deep enough. */
function skipSpace(reader: Reader, outer: number): boolean {
  const { text } = reader;
  for (;;) {
    const start = reader.at;
    reader.at += indentAt(text, start);
    if (start > 0 && text[start - 1] === "\n" && text[reader.at] !== "\n" && reader.at - start <= outer) return false;
    if (text[reader.at] !== "\n") return true;
    reader.at++;
  }
}

/** A plain or quoted scalar inside brackets. */
const FLOW_WORD = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*(?:''[^'\n]*)*'|[^\s"',[\]{}][^\n,[\]{}]*/y;
const FLOW_KEY = /([A-Za-z_][\w-]{0,63}): +(?=[^\s])/y;
