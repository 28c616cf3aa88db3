import { isRecord, type JsonSchema } from "../text/json.ts";

/**
 * A schema as a model reads it: without the dialect, and without limits that restrict nothing, such as the largest safe
 * integer. Made once for each schema.
 */
export function modelSchemaOf(schema: JsonSchema): JsonSchema {
  const known = made.get(schema);
  if (known) return known;
  const plain = Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (SAYS_NOTHING[key]?.(value) ? [] : [[key, below(key, value)]])),
  );
  made.set(schema, plain);
  return plain;
}

const made = new WeakMap<JsonSchema, JsonSchema>();

const isLowest = (value: unknown): boolean => typeof value === "number" && value <= Number.MIN_SAFE_INTEGER;
const isHighest = (value: unknown): boolean => typeof value === "number" && value >= Number.MAX_SAFE_INTEGER;

/** Keywords that a model does not need, and whether that is so for a value. A text without characters is no argument. */
const SAYS_NOTHING: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: (value) => typeof value === "string",
  minLength: (value) => value === 0 || value === 1,
  minimum: isLowest,
  exclusiveMinimum: isLowest,
  maximum: isHighest,
  exclusiveMaximum: isHighest,
};

/** Keywords whose values are schemas: by name, in a list, or one. Other values are data, such as those of `enum`. */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const SCHEMAS: ReadonlySet<string> = new Set(
  "items prefixItems additionalItems additionalProperties propertyNames contains anyOf oneOf allOf".split(" "),
);

function below(key: string, value: unknown): unknown {
  const one = (each: unknown): unknown => (isRecord(each) ? modelSchemaOf(each) : each);
  if (SCHEMAS.has(key)) return Array.isArray(value) ? value.map(one) : one(value);
  if (!BY_NAME.has(key) || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, one(each)]));
}
