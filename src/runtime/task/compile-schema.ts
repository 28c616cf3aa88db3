import type { ErrorObject } from "ajv";
import { messageOf } from "../../core/schema/error.ts";
import { endlessReference } from "../../core/schema/endless-reference.ts";
import { jsonSchemaOf } from "../../core/schema/jtd.ts";
import { gotText, issuesText, sourceOf } from "../../core/schema/standard-schema.ts";
import type { JsonSchema } from "../../core/text/json.ts";
import { boundedPattern } from "./bounded-pattern.ts";

/**
 * Checks a value: returns the problem with it, or `undefined` for a valid value. `with values`: the problem also says
 * which values are wrong.
 */
export type Check = (value: unknown, detail?: "with values") => string | undefined;

/** Compiles schemas. A crew has a single compiler, since creating it takes ten times as long as compiling a schema. */
export type Validator = (schema: JsonSchema) => Promise<Check>;

/** A schema with more characters than this is refused instead of compiled. */
const MAX_SCHEMA_CHARS = 200_000;

/**
 * A validator for JSON Schema (2020-12 and draft-07), for JTD, and for the schema library of the caller in this
 * process. A `$ref` is never fetched.
 */
export function createValidator(): Validator {
  let ready: Promise<Compile> | undefined;
  const known = new WeakMap<JsonSchema, Check>();
  return async (schema) => {
    const before = known.get(schema);
    if (before) return before;
    const check = librarysCheck(schema) ?? (await (ready ??= load()))(jsonSchemaOf(schema));
    known.set(schema, check);
    return check;
  };
}

/**
 * The check of the library schema that this JSON Schema was made from, which may be stricter. An asynchronous check
 * cannot be awaited at this point; it is applied to the result of the run.
 */
function librarysCheck(schema: JsonSchema): Check | undefined {
  const type = sourceOf(schema);
  return (
    type &&
    ((value, detail) => {
      const checked = type["~standard"].validate(value);
      if (!(checked instanceof Promise)) return issuesText(checked.issues, detail && { value });
      checked.catch(() => {});
      return undefined;
    })
  );
}

type Compile = (schema: JsonSchema) => Check;

async function load(): Promise<Compile> {
  const [ajv2020, formats] = await Promise.all([import("ajv/dist/2020.js"), import("ajv-formats")]);
  // Uses the default export, because a bundler provides nothing else of a CommonJS package that is imported
  // dynamically.
  const ajv = new ajv2020.default.Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    validateFormats: true,
    logger: false,
    code: { regExp: Object.assign(boundedPattern, { code: "" }) },
  });
  formats.default.default(ajv);
  return (schema) => {
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error("the schema is too large");
    const endless = endlessReference(schema);
    if (endless !== undefined) throw new Error(`its reference "${endless}" leads back to itself without an end`);
    const { $schema: _dialect, ...rest } = schema;
    const validate = ajv.compile(rest);
    return (value, detail) => {
      if (validate(value)) return undefined;
      const shown = (validate.errors ?? []).slice(0, 5);
      return shown.map((error) => problemOf(error) + (detail ? gotText(error.data) : "")).join("; ");
    };
  };
}

/** One problem: the path of the value, and which values are allowed there. */
function problemOf({ instancePath, keyword, params, message, parentSchema }: ErrorObject): string {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const at = (...more: string[]): string => [...path, ...more].join(".") || "the value";
  const { missingProperty, additionalProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  switch (keyword) {
    case "required":
      return `${at(String(missingProperty))} is missing`;
    case "additionalProperties": {
      const known = Object.keys((parentSchema?.["properties"] as object | undefined) ?? {});
      const allowed = known.length === 0 ? "" : `; allowed: ${known.join(", ")}`;
      return `${at(String(additionalProperty))} is not allowed (no additional properties${allowed})`;
    }
    case "enum":
      return `${at()} must be one of ${(allowedValues as unknown[]).map((each) => JSON.stringify(each)).join(", ")}`;
    case "const":
      return `${at()} must be ${JSON.stringify(allowedValue)}`;
    default:
      return `${at()} ${message ?? "is not valid"}`;
  }
}

/** The check for a schema, or why it is not a valid JSON Schema. */
export async function checkFor(validator: Validator, schema: JsonSchema): Promise<Check | { broken: string }> {
  try {
    return await validator(schema);
  } catch (error) {
    return { broken: messageOf(error) };
  }
}
