/** A value that survives JSON unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON Schema (or JTD) document: checked by the validator, opaque to everybody else. */
export type JsonSchema = { readonly [key: string]: unknown };

/** True for a plain object, the only shape a schema or a record of arguments can have. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
