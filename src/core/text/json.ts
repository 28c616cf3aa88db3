/** A value that stays the same when it is written as JSON and parsed again. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON Schema (or JTD) document. Only the validator looks into it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** True for a plain object, the only shape a schema or a record of arguments can have. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The entry of a table under a name that comes from outside, such as from a file. Names that every object inherits,
 * such as `constructor`, are not entries.
 */
export function ownEntry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Increases the count of a name that comes from outside, such as a file. */
export function addCount(counts: Record<string, number>, name: string, by = 1): void {
  const value = (ownEntry(counts, name) ?? 0) + by;
  // A plain assignment to `__proto__` would be ignored.
  Object.defineProperty(counts, name, { value, enumerable: true, writable: true, configurable: true });
}

/**
 * The deepest nesting of JSON that is accepted. Functions that walk a value call themselves for each level, and the
 * stack is finite.
 */
export const DEEPEST_JSON = 200;

/**
 * The deepest nesting of JSON that subcrew itself writes. It is deeper than accepted JSON, because subcrew's records
 * contain values from other programs.
 */
export const DEEPEST_RECORD = 1_000;

/** The problem with JSON that is nested too deeply (see `isDeeplyNested`), as the end of a sentence. */
export const TOO_DEEP_JSON = `nested deeper than ${DEEPEST_JSON} levels`;

/**
 * True when lists and objects are nested deeper than is accepted. Takes no stack, and time in proportion to the value.
 */
export function isDeeplyNested(value: unknown, deepest = DEEPEST_JSON): boolean {
  let level = new Set<object>(typeof value === "object" && value !== null ? [value] : []);
  for (let depth = 0; level.size > 0; depth += 1) {
    if (depth === deepest) return true;
    const below = new Set<object>(); // an object that refers to itself counts once per level
    for (const each of level)
      for (const inner of Array.isArray(each) ? (each as unknown[]) : Object.values(each))
        if (typeof inner === "object" && inner !== null) below.add(inner);
    level = below;
  }
  return false;
}

/** Like `isDeeplyNested`, but faster, for a value in which no object occurs twice, as in parsed JSON. */
function isDeepTree(value: unknown, deepest: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth += 1) {
    const below: unknown[] = [];
    let isOpen = false;
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      isOpen = true;
      for (const inner of Array.isArray(each) ? (each as unknown[]) : Object.values(each))
        if (typeof inner === "object" && inner !== null) below.push(inner);
    }
    if (!isOpen) return false;
    if (depth === deepest) return true;
    level = below;
  }
}

/** Parses JSON of any origin. Throws for text that is not JSON, and for JSON that is nested too deeply. */
export function parseJson(text: string, deepest = DEEPEST_JSON): unknown {
  const value: unknown = JSON.parse(text);
  // A short text cannot be nested too deeply.
  if (text.length > 2 * deepest && isDeepTree(value, deepest)) throw new JsonDepthError(deepest);
  return value;
}

/** Thrown for JSON that is nested too deeply. */
export class JsonDepthError extends SyntaxError {
  constructor(deepest: number) {
    super(`it is nested deeper than ${deepest} levels`);
    this.name = "JsonDepthError";
  }
}

/**
 * A value from a file as text; the items of a list are joined with commas. A map becomes an empty text, which equals no
 * expected word. `String()` would throw for a map without a prototype, as readers of files return it.
 */
export function scalarText(value: unknown): string {
  if (Array.isArray(value)) return value.map(scalarText).join(",");
  return typeof value === "object" && value !== null ? "" : String(value);
}
