import { isRecord, type JsonSchema } from "../core/text/json.ts";

/**
 * The fields of tasks and runs that a host's model rarely needs. They are not listed, but accepted; `--full` lists
 * them. A host sends the whole tool list with each request, so every field costs tokens each time.
 */
const rare: ReadonlySet<string> = new Set([
  "acceptCommand",
  "acceptSchema",
  "context",
  "contextFiles",
  "cwd",
  "fork",
  "gitContext",
  "images",
  "inputs",
  "isolationDirty",
  "isolationKeep",
  "maxConcurrency",
  "resourceLimits",
  "retry",
  "reviewExhausted",
  "runner",
  "schema",
  "systemPrompt",
  "thinking",
  "tools",
  "writes",
]);

/** Schema keywords that limit a value. They are not listed: a call that breaks a limit is refused with the reason. */
const bounds: ReadonlySet<string> = new Set([
  "additionalProperties",
  "propertyNames",
  "minLength",
  "minItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "pattern",
]);

/** Fields that are listed for the run only, not for each of its tasks. */
const once: ReadonlySet<string> = new Set(["isolation"]);

/** A schema of arguments with the common fields only. Fields that are not listed stay valid. */
export function briefSchema(schema: JsonSchema): JsonSchema {
  return brief(schema, {});
}

/**
 * Shortens a schema. `above` has the fields of the outermost object, whose descriptions are not repeated in nested
 * objects.
 */
function brief(schema: JsonSchema, above: Fields): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !bounds.has(key))
      .map(([key, value]) => [
        key,
        key === "properties" && isRecord(value) ? briefFields(value, above) : briefValue(value, above),
      ]),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function briefFields(fields: Fields, above: Fields): Fields {
  const shown = Object.entries(fields).filter(
    ([name, field]) =>
      !rare.has(name) &&
      !isAlias(field) &&
      !(once.has(name) && Object.hasOwn(above, name)) &&
      descriptionOf(field) !== "name of the run",
  );
  const outer = Object.keys(above).length > 0 ? above : fields;
  return Object.fromEntries(
    shown.map(([name, field]) => {
      const { description, ...rest } = briefValue(field, outer) as Fields;
      const known = outer !== fields && description === descriptionOf(outer[name]);
      return [name, { ...(description !== undefined && !known && { description }), ...rest }];
    }),
  );
}

/** Shortens a schema with several alternatives: only the first and simplest is listed. */
function briefValue(value: unknown, above: Fields): unknown {
  if (Array.isArray(value)) return value.map((each) => briefValue(each, above));
  if (!isRecord(value)) return value;
  const { anyOf, ...rest } = value;
  const [simplest]: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return brief({ ...(isRecord(simplest) && simplest), ...rest }, above);
}

const descriptionOf = (field: unknown): unknown => (isRecord(field) ? field["description"] : undefined);
const isAlias = (field: unknown): boolean => String(descriptionOf(field)).startsWith("same as ");
