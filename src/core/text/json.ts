/** A value that stays the same when it is written as JSON and parsed again. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON Schema (or JTD) document. Only the validator looks into it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** True for a plain object, the only shape a schema or a record of arguments can have. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The entry of a table under a name from outside, such as a file: names such as `constructor`, which every object
 * inherits, are not entries.
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
