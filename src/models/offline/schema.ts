import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";

/** A JSON Schema as an object; `true` becomes the empty object. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema, and the schemas in which its references are looked up, with the innermost schema last. */
export type ResolvedSchema = Readonly<{ schema: Schema; roots: readonly Schema[] }>;

/**
 * Reduces a schema to a plain schema: JTD is translated, references are followed, `allOf` is merged, and the best
 * alternative is chosen.
 */
export function resolved(given: unknown, roots: readonly Schema[]): ResolvedSchema {
  let schema = plain(given);
  let inside = within(roots, schema);
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
    if (typeof $ref === "string") schema = merged(plain(lookedUp($ref, inside)), rest);
    else if (Array.isArray(allOf))
      schema = allOf
        .map((part) => resolved(part, inside).schema)
        .reduce(merged, { ...rest, ...defined({ anyOf, oneOf }) });
    else if (Array.isArray(anyOf) || Array.isArray(oneOf))
      schema = merged(bestOf([anyOf ?? oneOf].flat(), inside), rest);
    else break;
    inside = within(inside, schema);
  }
  return { schema, roots: inside };
}

const MOST_STEPS = 30;

function plain(given: unknown): Schema {
  return isRecord(given) ? fromJtd(given) : {};
}

/** Adds a schema with definitions to the schemas in which references are looked up. */
function within(roots: readonly Schema[], schema: Schema): readonly Schema[] {
  return roots.length === 0 || "$defs" in schema || "definitions" in schema ? [...roots, schema] : roots;
}

/** Follows `#/a/b` in the innermost schema that has it. */
function lookedUp(reference: string, roots: readonly Schema[]): unknown {
  if (!reference.startsWith("#")) return {};
  const steps = reference
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  for (const root of roots.toReversed()) {
    let at: unknown = root;
    for (const step of steps)
      at =
        (isRecord(at) || Array.isArray(at)) && Object.hasOwn(at, step)
          ? (at as Record<string, unknown>)[step]
          : undefined;
    if (at !== undefined) return at;
  }
  return {};
}

/** Merges two schemas. Fields and requirements of both apply; for everything else the second schema wins. */
function merged(one: Schema, other: Schema): Schema {
  const both = { ...one, ...other };
  if (isRecord(one.properties) && isRecord(other.properties))
    both.properties = { ...one.properties, ...other.properties };
  if (Array.isArray(one.required) && Array.isArray(other.required))
    both.required = [...new Set([...one.required, ...other.required])];
  return both;
}

/** The first alternative of a schema that is neither null nor meant for reporting a failure. */
function bestOf(alternatives: readonly unknown[], roots: readonly Schema[]): Schema {
  const all = alternatives.filter((each) => each !== false).map((each) => resolved(each, roots).schema);
  const telling = all.filter(
    ({ type, required, ...rest }) =>
      type !== "null" &&
      rest.const !== null &&
      !(Array.isArray(required) && required.some((key) => /^(?:error|fault|failure)$/i.test(String(key)))),
  );
  return telling[0] ?? all[0] ?? {};
}

const JTD_TYPES: Readonly<Record<string, Schema>> = {
  timestamp: { type: "string", format: "date-time" },
  float32: { type: "number" },
  float64: { type: "number" },
  int8: { type: "integer" },
  uint8: { type: "integer", minimum: 0 },
  int16: { type: "integer" },
  uint16: { type: "integer", minimum: 0 },
  int32: { type: "integer" },
  uint32: { type: "integer", minimum: 0 },
};

/** Translates the outermost level of a JTD schema to JSON Schema; JSON Schema is returned unchanged. */
function fromJtd(schema: Schema): Schema {
  const { elements, values, optionalProperties, discriminator, mapping, ref, type, ...rest } = schema;
  if (typeof type === "string" && Object.hasOwn(JTD_TYPES, type)) return { ...rest, ...JTD_TYPES[type] };
  if (typeof ref === "string") return { ...rest, $ref: `#/definitions/${ref}` };
  if (isRecord(elements)) return { ...rest, type: "array", items: elements };
  if (isRecord(values)) return { ...rest, type: "object", additionalProperties: values };
  if (typeof discriminator === "string" && isRecord(mapping)) {
    const [tag = "", variant] = Object.entries(mapping)[0] ?? [];
    return merged(fromJtd(isRecord(variant) ? variant : {}), {
      ...rest,
      type: "object",
      properties: { [discriminator]: { const: tag } },
      required: [discriminator],
    });
  }
  const isJtdObject =
    isRecord(optionalProperties) ||
    (isRecord(rest.properties) &&
      type === undefined &&
      rest.required === undefined &&
      rest.anyOf === undefined &&
      rest.oneOf === undefined &&
      rest.allOf === undefined);
  if (!isJtdObject) return schema;
  const needed = isRecord(rest.properties) ? rest.properties : {};
  return {
    ...rest,
    type: "object",
    properties: { ...needed, ...(isRecord(optionalProperties) ? optionalProperties : {}) },
    required: Object.keys(needed),
  };
}
