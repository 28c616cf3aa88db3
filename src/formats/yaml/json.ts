import type { Data } from "./frontmatter.ts";

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly line: number };

const MAX_DEPTH = 64;

/**
 * JSON with comments and trailing commas, as editors and opencode write it. Objects have no prototype, a key given
 * twice is an error, and nesting is bounded.
 */
export function readJson(text: string): JsonResult {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const is = (char: string): boolean => {
    take(SPACE);
    if (source[at] !== char) return false;
    at++;
    return true;
  };
  /** True at the end of a list or object; otherwise consumes a comma. */
  const ends = (end: string): boolean => {
    if (is(end)) return true;
    if (!is(",")) throw new JsonFault(`"," or "${end}" is expected`);
    return is(end);
  };
  const object = (depth: number): Data => {
    const made = Object.create(null) as Record<string, unknown>;
    if (is("}")) return made;
    do {
      take(SPACE);
      const key = take(STRING);
      if (key === undefined) throw new JsonFault("a key in double quotes is expected");
      const name = JSON.parse(key) as string;
      if (name in made) throw new JsonFault(`the key "${name}" is given twice`);
      if (!is(":")) throw new JsonFault('a ":" is expected');
      made[name] = value(depth + 1);
    } while (!ends("}"));
    return made;
  };
  const list = (depth: number): unknown[] => {
    const made: unknown[] = [];
    if (is("]")) return made;
    do made.push(value(depth + 1));
    while (!ends("]"));
    return made;
  };
  const value = (depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new JsonFault(`nested deeper than ${MAX_DEPTH} levels`);
    if (is("{")) return object(depth);
    if (is("[")) return list(depth);
    const token = take(STRING) ?? take(NUMBER) ?? take(WORD);
    if (token !== undefined) return JSON.parse(token);
    throw new JsonFault(at >= source.length ? "the text ends too early" : `"${source[at]}" is not expected here`);
  };
  try {
    const read = value(0);
    take(SPACE);
    if (at < source.length) throw new JsonFault("text follows after the end of the JSON value");
    return { ok: true, value: read };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { ok: false, reason: error.message, line: source.slice(0, at).split("\n").length };
  }
}

/** The line of a key anywhere in the text, counted from 1; the first match. */
export function jsonLineOf(text: string, key: string): number | undefined {
  const at = text.indexOf(JSON.stringify(key));
  return at === -1 ? undefined : text.slice(0, at).split("\n").length;
}

/** The parsed value, when it is an object. */
export const asData = (value: unknown): Data | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Data) : undefined;

class JsonFault extends Error {}

const SPACE = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
