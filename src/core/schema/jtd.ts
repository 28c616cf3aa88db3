import { isRecord, type JsonSchema } from "../text/json.ts";

/**
 * A schema as JSON Schema, the only form that models and the validator accept. JTD (RFC 8927) is translated; a JSON
 * Schema is returned as the same object.
 */
export function jsonSchemaOf(schema: JsonSchema): JsonSchema {
  const known = translated.get(schema);
  if (known) return known;
  const plain = isJtd(schema) ? translate(schema, true) : schema;
  translated.set(schema, plain);
  return plain;
}

const translated = new WeakMap<JsonSchema, JsonSchema>();

/** True for a JTD schema that would mean something else when read as JSON Schema. */
export function isJtd(schema: JsonSchema): boolean {
  return isForm(schema, isRecord(schema["definitions"]) ? schema["definitions"] : {}) && isTelling(schema);
}

type Range = Readonly<{ minimum: number; maximum: number }>;
const signed = (bits: number): Range => ({ minimum: -(2 ** (bits - 1)), maximum: 2 ** (bits - 1) - 1 });
const unsigned = (bits: number): Range => ({ minimum: 0, maximum: 2 ** bits - 1 });

const types: Readonly<Record<string, JsonSchema>> = {
  boolean: { type: "boolean" },
  string: { type: "string" },
  timestamp: { type: "string", format: "date-time" },
  float32: { type: "number" },
  float64: { type: "number" },
  int8: { type: "integer", ...signed(8) },
  uint8: { type: "integer", ...unsigned(8) },
  int16: { type: "integer", ...signed(16) },
  uint16: { type: "integer", ...unsigned(16) },
  int32: { type: "integer", ...signed(32) },
  uint32: { type: "integer", ...unsigned(32) },
};

/** The forms of a JTD schema by their keyword, each with the keywords that may stand next to that keyword. */
const forms: Readonly<Record<string, readonly string[]>> = {
  ref: [],
  type: [],
  enum: [],
  elements: [],
  properties: ["optionalProperties", "additionalProperties"],
  optionalProperties: ["properties", "additionalProperties"],
  values: [],
  discriminator: ["mapping"],
};
/** Keywords that are allowed in every form of a JTD schema, such as descriptions. */
const beside = ["nullable", "metadata", "description", "title", "definitions"];

type Definitions = Readonly<Record<string, unknown>>;

function isForm(schema: unknown, definitions: Definitions): boolean {
  if (!isRecord(schema)) return false;
  const words = Object.keys(schema).filter((word) => !beside.includes(word));
  const [form = ""] = words.filter((word) => Object.hasOwn(forms, word));
  if (words.some((word) => word !== form && !forms[form]?.includes(word))) return false;
  const all = (held: unknown): boolean =>
    held === undefined || (isRecord(held) && Object.values(held).every((one) => isForm(one, definitions)));
  const { ref, type, enum: names, elements, values, discriminator, mapping } = schema;
  return (
    all(schema["definitions"]) &&
    (ref === undefined || (typeof ref === "string" && Object.hasOwn(definitions, ref))) &&
    (type === undefined || (typeof type === "string" && Object.hasOwn(types, type))) &&
    (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === "string"))) &&
    (elements === undefined || isForm(elements, definitions)) &&
    (values === undefined || isForm(values, definitions)) &&
    all(schema["properties"]) &&
    all(schema["optionalProperties"]) &&
    (discriminator === undefined || (typeof discriminator === "string" && isRecord(mapping) && all(mapping)))
  );
}

/**
 * True for a schema that means something else in JTD than in JSON Schema; `string`, `boolean` and `enum` mean the same
 * thing in both.
 */
function isTelling({ type, ...schema }: JsonSchema): boolean {
  if (schema["nullable"] === true) return true;
  if (type !== undefined) return type !== "string" && type !== "boolean";
  return Object.keys(schema).some((word) => word !== "enum" && Object.hasOwn(forms, word));
}

function translate(schema: unknown, isRoot = false): JsonSchema {
  if (!isRecord(schema)) return {};
  const { metadata, description, title, nullable, definitions } = schema;
  const said = description ?? (isRecord(metadata) ? metadata["description"] : undefined);
  const about = {
    ...(typeof title === "string" && { title }),
    ...(typeof said === "string" && { description: said }),
    ...(isRoot && isRecord(definitions) && { $defs: each(definitions) }),
  };
  const form = formOf(schema);
  return nullable === true ? { ...about, anyOf: [form, { type: "null" }] } : { ...about, ...form };
}

function formOf(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const { ref, type, enum: names, elements, values, discriminator, mapping } = schema;
  if (typeof ref === "string") return { $ref: `#/$defs/${ref}` };
  if (typeof type === "string") return { ...types[type] };
  if (names !== undefined) return { type: "string", enum: names };
  if (elements !== undefined) return { type: "array", items: translate(elements) };
  if (values !== undefined) return { type: "object", additionalProperties: translate(values) };
  if (typeof discriminator === "string" && isRecord(mapping))
    return { oneOf: Object.entries(mapping).map(([tag, variant]) => tagged(discriminator, tag, variant)) };
  return schema["properties"] === undefined && schema["optionalProperties"] === undefined ? {} : objectOf(schema);
}

/**
 * The JSON Schema of a JTD object: properties are required unless they are listed as optional, and additional
 * properties are refused unless allowed.
 */
function objectOf(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const { properties = {}, optionalProperties = {}, additionalProperties } = schema;
  const needed = isRecord(properties) ? properties : {};
  return {
    type: "object",
    properties: each({ ...needed, ...(isRecord(optionalProperties) ? optionalProperties : {}) }),
    required: Object.keys(needed),
    ...(additionalProperties !== true && { additionalProperties: false }),
  };
}

function tagged(discriminator: string, tag: string, variant: unknown): JsonSchema {
  const { properties, required, ...rest } = objectOf(isRecord(variant) ? variant : {});
  return {
    ...rest,
    properties: { [discriminator]: { const: tag }, ...(isRecord(properties) ? properties : {}) },
    required: [discriminator, ...(Array.isArray(required) ? (required as string[]) : [])],
  };
}

const each = (schemas: Readonly<Record<string, unknown>>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, translate(inner)]));
