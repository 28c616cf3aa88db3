import { isRecord } from "../../core/text/json.ts";
import {
  enumValue,
  listFor,
  numberFor,
  type Report,
  type Slot,
  speaksOfFailure,
  stringFor,
  truthFor,
} from "./content.ts";
import { resolved, type Schema } from "./schema.ts";

/**
 * A value that is valid for a JSON Schema (or JTD), with the findings in the fields whose names ask for them. `bare`
 * leaves out everything that is not required. Keywords that need a validator (not, if, contains) are ignored.
 */
export function fillSchema(schema: unknown, report: Report, { bare = false }: { bare?: boolean } = {}): unknown {
  return valueFor(schema, { report, bare, name: "", finding: undefined, depth: 0, roots: [] });
}

type Place = Slot & Readonly<{ bare: boolean; depth: number; roots: readonly Schema[] }>;

/** Below this depth only required fields are filled, so that a recursive schema ends. */
const DEEP = 6;
const DEEPEST = 40;

function valueFor(given: unknown, place: Place): unknown {
  const { schema, roots } = resolved(given, place.roots);
  const inner: Place = { ...place, roots, depth: place.depth + 1 };
  if (place.depth > DEEPEST) return null;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return enumValue(schema.enum, place.name);
  switch (typeOf(schema)) {
    case "object":
      return objectFor(schema, inner);
    case "array":
      return arrayFor(schema, inner);
    case "string":
      return stringFor(schema, inner);
    case "number":
      return numberFor(schema, inner, false);
    case "integer":
      return numberFor(schema, inner, true);
    case "boolean":
      return "default" in schema ? schema.default : truthFor(inner);
    case "null":
      return null;
  }
}

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
type Type = (typeof TYPES)[number];

/** Picks the most expressive type that the schema allows or whose keywords it uses. */
function typeOf(schema: Schema): Type {
  const said = [schema.type].flat();
  const allowed = TYPES.find((type) => said.includes(type));
  if (allowed !== undefined) return allowed;
  if (
    ["properties", "required", "additionalProperties", "patternProperties", "minProperties"].some(
      (key) => key in schema,
    )
  )
    return "object";
  if (["items", "prefixItems", "minItems", "uniqueItems"].some((key) => key in schema)) return "array";
  return ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].some((key) => key in schema)
    ? "number"
    : "string";
}

function objectFor(schema: Schema, place: Place): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [];
  const value: Record<string, unknown> = {};
  const put = (key: string, inside: unknown): void => {
    Object.defineProperty(value, key, {
      value: valueFor(inside, { ...place, name: key }),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  };
  for (const [key, inside] of Object.entries(properties)) {
    if (required.includes(key) || (!place.bare && place.depth <= DEEP && isWorthwhile(key, inside, place)))
      put(key, inside);
  }
  const others = isRecord(schema.additionalProperties)
    ? schema.additionalProperties
    : (firstOf(schema.patternProperties) ?? { type: "string" });
  for (const key of required) if (!Object.hasOwn(value, key)) put(key, others);
  const least = typeof schema.minProperties === "number" ? schema.minProperties : 0;
  for (const key of Object.keys(properties))
    if (Object.keys(value).length < least && !Object.hasOwn(value, key)) put(key, properties[key]);
  for (let n = 1; Object.keys(value).length < least && schema.additionalProperties !== false && n <= 100; n++)
    put(`entry${n}`, others);
  return value;
}

/** True for an optional field that can be filled with a finding; never for a field that would report a failure. */
function isWorthwhile(key: string, inside: unknown, place: Place): boolean {
  if (speaksOfFailure(key)) return false;
  const { schema } = resolved(inside, place.roots);
  if ("const" in schema || "enum" in schema) return false;
  const type = typeOf(schema);
  if (type === "string") return stringFor({}, { ...place, name: key, known: true }) !== "";
  return type === "object" || type === "array";
}

function arrayFor(schema: Schema, place: Place): unknown[] {
  const first = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : MOST_ITEMS;
  const values = first.map((item) => valueFor(item, place));
  if (rest !== false && !(place.bare && least <= values.length) && place.depth <= DEEP + 2)
    values.push(...itemsFor(rest, place));
  const unique = schema.uniqueItems === true ? distinct(values) : values;
  for (let n = unique.length; n < Math.min(least, MOST_PADDED); n++) {
    const more = valueFor(rest ?? { type: "string" }, { ...place, finding: place.report.findings[n] });
    unique.push(schema.uniqueItems === true ? varied(more, n) : more);
  }
  return unique.slice(0, Math.max(least, most));
}

const MOST_ITEMS = 10;
const MOST_PADDED = 1_000;

/** One item for each finding, file, symbol or step. The name of the list decides which of these it contains. */
function itemsFor(items: unknown, place: Place): unknown[] {
  const { schema } = resolved(items ?? { type: "string" }, place.roots);
  const type = typeOf(schema);
  if (type === "string" && !("enum" in schema) && !("const" in schema)) {
    return listFor(place).map((text) => stringFor(schema, { ...place, text }));
  }
  if (type === "integer" || type === "number")
    return /line/i.test(place.name) ? place.report.findings.map(({ line }) => line) : [];
  if (type !== "object") return [];
  const byLine = Object.keys(isRecord(schema.properties) ? schema.properties : {}).some((key) =>
    /line|row|position/i.test(key),
  );
  const findings = byLine
    ? place.report.findings
    : place.report.findings.filter((each, n, all) => all.findIndex(({ path }) => path === each.path) === n);
  return findings.slice(0, MOST_ITEMS).map((finding) => valueFor(schema, { ...place, finding }));
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** A different value of the same shape, for filling up a list whose items must be unique. */
function varied(value: unknown, n: number): unknown {
  if (typeof value === "string") return `${value} ${n + 1}`;
  if (typeof value === "number") return value + n;
  if (!isRecord(value)) return value;
  const key = Object.keys(value).find((name) => typeof value[name] === "string" || typeof value[name] === "number");
  return key === undefined ? value : { ...value, [key]: varied(value[key], n) };
}

const firstOf = (record: unknown): unknown => (isRecord(record) ? Object.values(record)[0] : undefined);
