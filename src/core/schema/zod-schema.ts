import { z } from "zod";
import { isRecord, type JsonSchema } from "../text/json.ts";

/** True for a schema that was written with zod, whichever copy of it. */
export function isZodType(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "safeParse" in value && typeof value.safeParse === "function";
}

/** The JSON Schema of a zod schema, as a plain object; made once, since a schema never changes. */
export function jsonSchemaOfZod(type: z.ZodType): JsonSchema {
  const known = made.get(type);
  if (known) return known;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io: "input" }) as JsonSchema;
  made.set(type, schema);
  sources.set(schema, type);
  return schema;
}

/** The zod schema that a JSON Schema was made from, in this process: it also knows what JSON Schema cannot say. */
export const zodTypeOf = (schema: JsonSchema): z.ZodType | undefined => sources.get(schema);

const made = new WeakMap<object, JsonSchema>();
const sources = new WeakMap<JsonSchema, z.ZodType>();

/** The same input or plan with every zod schema in it as JSON Schema; the very same one when there is none. */
export function withoutZod<T>(value: T): T {
  return plain(value, 0) as T;
}

/** The nesting limit; deeper input is refused later by validation. */
const DEEPEST = 100;

function plain(value: unknown, depth: number): unknown {
  if (isZodType(value)) return jsonSchemaOfZod(value);
  if (depth > DEEPEST) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => plain(item, depth + 1));
    return next.some((item, at) => item !== items[at]) ? next : value;
  }
  if (!isRecord(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const next = plain(inner, depth + 1);
    if (next !== inner) (changed ??= { ...value })[key] = next;
  }
  return changed ?? value;
}
