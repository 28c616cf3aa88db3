import { CORE_SCHEMA } from "js-yaml";

/** Returned when the simple YAML reader cannot read a value, so that the full parser must. */
export const MORE = Symbol("more");

/** The value of a plain or quoted scalar; `MORE` if it may continue on the next line. */
export function simpleScalar(written: string): unknown {
  if (written === "") return MORE;
  const first = written.charCodeAt(0);
  const kind = first < KINDS.length ? KINDS[first] : TEXT;
  if (kind === INDICATOR) return quoted(written);
  if (written.includes(": ") || written.endsWith(":") || written.includes(" #")) return MORE;
  return kind === CONSTANT && LIKE_CONSTANT.test(written)
    ? CORE_SCHEMA.resolveImplicitScalarTag(written).value
    : written;
}

/** True for a text that may begin a plain scalar. */
export const startsPlain = (written: string): boolean => KINDS[written.charCodeAt(0)] !== INDICATOR;

function quoted(written: string): unknown {
  if (written.startsWith('"')) return DOUBLE_QUOTED.test(written) ? JSON.parse(written) : MORE;
  return SINGLE_QUOTED.test(written) ? written.slice(1, -1).replaceAll("''", "'") : MORE;
}

/** Matches a double-quoted text whose escapes mean the same in JSON. */
const DOUBLE_QUOTED = /^"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"$/;
const SINGLE_QUOTED = /^'[^']*(?:''[^']*)*'$/;

/** Values that begin like a number or a constant are resolved as in the full parser; all other values are texts. */
const LIKE_CONSTANT = /^(?:[0-9.+~]|[tT][rR]|[fF][aA]|[nN][uU])/;

const [TEXT, CONSTANT, INDICATOR] = [0, 1, 2];
/** For each character that a plain scalar may begin with: the kinds of value that it may be. */
const KINDS = new Uint8Array(128);
for (const character of "0123456789.+~tTfFnN") KINDS[character.charCodeAt(0)] = CONSTANT;
for (const character of "-?:,[]{}#&*!|>'\"%@`") KINDS[character.charCodeAt(0)] = INDICATOR;
