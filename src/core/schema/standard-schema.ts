import { z } from "zod";
import { isRecord, type JsonSchema } from "../text/json.ts";
import { CrewError } from "./error.ts";

/** A schema of zod, Valibot, ArkType or another library that follows Standard Schema (https://standardschema.dev). */
export type StandardSchema<Output = unknown> = Readonly<{
  "~standard": Readonly<{
    version: 1;
    vendor: string;
    validate(value: unknown): Validated<Output> | Promise<Validated<Output>>;
    types?: Readonly<{ input: unknown; output: Output }> | undefined;
    /** Standard JSON Schema: converts the schema to JSON Schema, which models need. */
    jsonSchema?:
      | Readonly<{ input(options: Readonly<{ target: string }>): Readonly<Record<string, unknown>> }>
      | undefined;
  }>;
}>;

/** The type of the values that a schema accepts, after its defaults and transformations. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

type Validated<Output> = Readonly<{ value: Output; issues?: undefined }> | Readonly<{ issues: readonly Issue[] }>;
type Issue = Readonly<{
  message: string;
  path?: readonly (PropertyKey | Readonly<{ key: PropertyKey }>)[] | undefined;
}>;

/** True for a schema of a library that follows Standard Schema; some of them are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "~standard" in value && isRecord(value["~standard"]);
}

/** True for a schema that was written with zod, also with another installed copy of zod. */
export function isZodType(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "safeParse" in value && typeof value.safeParse === "function";
}

/** The JSON Schema of a schema of a library, as a plain object; made once, since a schema never changes. */
export function plainSchemaOf(type: StandardSchema): JsonSchema {
  const known = made.get(type);
  if (known) return known;
  const { $schema: _dialect, ...schema } = converted(type);
  made.set(type, schema);
  sources.set(schema, type);
  return schema;
}

/**
 * The library schema that a JSON Schema was made from in this process: it can check more than JSON Schema can express.
 */
export const sourceOf = (schema: JsonSchema): StandardSchema | undefined => sources.get(schema);

const made = new WeakMap<object, JsonSchema>();
const sources = new WeakMap<JsonSchema, StandardSchema>();

function converted(type: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = type["~standard"];
  try {
    if ("_zod" in type) return z.toJSONSchema(type as unknown as z.ZodType, { io: "input" });
    if (jsonSchema) return jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    throw new CrewError(
      "BAD_INPUT",
      `The ${vendor} schema cannot be written as JSON Schema: ${cause instanceof Error ? cause.message : String(cause)}`,
      "Remove types that JSON does not have, such as dates, maps and functions.",
      { cause },
    );
  }
  throw new CrewError(
    "BAD_INPUT",
    `The ${vendor} schema cannot be converted to JSON Schema, which models need.`,
    "Use zod 4, or a schema that implements Standard JSON Schema (for Valibot: toStandardJsonSchema of @valibot/to-json-schema), or give JSON Schema.",
  );
}

/** The problems of a value in one line, at most five; `undefined`: the value is valid. */
export function issuesText(issues: readonly Issue[] | undefined, received?: Received): string | undefined {
  return issues
    ?.slice(0, 5)
    .map(({ path = [], message }) => {
      const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
      return `${keys.length === 0 ? "the value" : keys.join(".")}: ${message}${received ? gotText(valueAt(received.value, keys)) : ""}`;
    })
    .join("; ");
}

/** The value that a schema was applied to. */
type Received = Readonly<{ value: unknown }>;

/** What came in place of a valid value, in brackets. */
export function gotText(value: unknown): string {
  return ` (got ${shown(value)})`;
}

const MAX_SHOWN = 80;
const MAX_KEYS = 10;

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isRecord(value)) {
    const keys = Object.keys(value);
    return keys.length === 0 ? "an empty object" : `an object with ${keys.slice(0, MAX_KEYS).join(", ")}`;
  }
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)] as unknown;
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, value);
}

/**
 * The same input or plan, with every schema of a schema library in it replaced by its JSON Schema. Without such a
 * schema, the given object itself is returned.
 */
export function withPlainSchemas<T>(value: T): T {
  return plain(value, 0) as T;
}

/** The nesting limit; deeper input is refused later by validation. */
const DEEPEST = 100;

function plain(value: unknown, depth: number): unknown {
  if (isStandardSchema(value)) return plainSchemaOf(value);
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
