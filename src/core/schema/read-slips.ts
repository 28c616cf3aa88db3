import { isRecord, type JsonSchema, parseJson } from "../text/json.ts";

/** A value as its sender meant it, and what was corrected for that. */
export type Reading = Readonly<{ value: unknown; slips: readonly string[] }>;

/** How many wrappers around a value are looked into. */
const MAX_WRAPPERS = 4;

/**
 * The readings of a value that does not match its schema, the closest first: a JSON string in place of an object or a
 * list, a wrapper around the value, and enum values in other case. Nothing else is corrected. Whether a reading matches
 * the schema is for the caller to check.
 */
export function readings(schema: JsonSchema, value: unknown): readonly Reading[] {
  const found: Reading[] = [];
  const slips: string[] = [];
  const fields = fieldsOf(schema);
  for (let inner = value, n = 0; n <= MAX_WRAPPERS; n += 1) {
    const parsed = parsedObject(inner);
    if (parsed !== undefined) {
      slips.push("it was a JSON string");
      inner = parsed;
    }
    found.push(inOwnCase(schema, { value: inner, slips: [...slips] }));
    const [key, ...more] = isRecord(inner) ? Object.keys(inner) : [];
    if (key === undefined || more.length > 0 || fields.has(key)) break;
    slips.push(`it was wrapped in "${key}"`);
    inner = (inner as Record<string, unknown>)[key];
  }
  return found;
}

/** The names of the properties that a schema declares for an object. */
export function fieldsOf(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of partsOf(schema, schema))
    if (isRecord(part["properties"])) for (const name of Object.keys(part["properties"])) names.add(name);
  return names;
}

/** The object or list in a JSON string, also in a code block. */
export function parsedObject(text: unknown): object | undefined {
  if (typeof text !== "string") return undefined;
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1];
  try {
    const value = parseJson(fenced ?? text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces texts that differ from a value of their enum only in case. */
function inOwnCase(schema: JsonSchema, { value, slips }: Reading): Reading {
  const more: string[] = [];
  const walk = (at: JsonSchema, inner: unknown, path: string): unknown => {
    const parts = [...partsOf(at, schema)];
    if (typeof inner === "string") {
      const allowed = parts.flatMap((part) =>
        Array.isArray(part["enum"]) ? (part["enum"] as unknown[]) : "const" in part ? [part["const"]] : [],
      );
      const same = allowed.filter((each) => typeof each === "string" && each.toLowerCase() === inner.toLowerCase());
      if (allowed.includes(inner) || same.length !== 1) return inner;
      more.push(`${path === "" ? "it" : path} was ${JSON.stringify(inner)} in place of ${JSON.stringify(same[0])}`);
      return same[0];
    }
    const below = (of: string): JsonSchema[] => parts.flatMap((part) => (isRecord(part[of]) ? [part[of]] : []));
    if (Array.isArray(inner)) {
      const items: readonly unknown[] = inner;
      const schemas = below("items");
      return schemas.length === 0 ? inner : items.map((item, n) => walk({ anyOf: schemas }, item, join(path, `${n}`)));
    }
    if (!isRecord(inner)) return inner;
    const fields = below("properties");
    return Object.fromEntries(
      Object.entries(inner).map(([key, item]) => {
        const own = fields.flatMap((each) => (Object.hasOwn(each, key) && isRecord(each[key]) ? [each[key]] : []));
        const schemas = own.length > 0 ? own : below("additionalProperties");
        return [key, schemas.length === 0 ? item : walk({ anyOf: schemas }, item, join(path, key))];
      }),
    );
  };
  const own = walk(schema, value, "");
  return more.length === 0 ? { value, slips } : { value: own, slips: [...slips, ...more] };
}

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** A schema and the schemas that it combines or refers to. */
function* partsOf(schema: JsonSchema, root: JsonSchema, seen = new Set<JsonSchema>()): Generator<JsonSchema> {
  if (seen.has(schema)) return;
  seen.add(schema);
  yield schema;
  const combined = [schema["anyOf"], schema["oneOf"], schema["allOf"]].flatMap((each) =>
    Array.isArray(each) ? (each as unknown[]) : [],
  );
  for (const part of [...combined, referred(schema["$ref"], root)])
    if (isRecord(part)) yield* partsOf(part, root, seen);
}

/** The schema at a local reference such as `#/$defs/name`. */
function referred(ref: unknown, root: JsonSchema): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#")) return undefined;
  const steps = ref
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce<unknown>((at, step) => (isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);
}
