import type { z } from "zod";
import { CrewError, type Code } from "./error.ts";
import { nearest } from "./nearest.ts";

/** The typed value of something from outside, or an error that names the place, the problem and the fix. */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown, { code, what }: { code: Code; what: string }): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, hint } = describe(deepest(parsed.error.issues[0]!), what, schema);
  throw new CrewError(code, message, hint);
}

type Issue = z.core.$ZodIssue;

/** A union only says "no variant fits"; the variant that got furthest says why. */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return issue;
  const inner = issue.errors
    .map((variant) => variant[0])
    .filter((first) => first !== undefined)
    .map(deepest)
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  return inner && inner.path.length > 0 ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

function describe(issue: Issue, what: string, schema: z.ZodType): { message: string; hint: string } {
  const place = placeOf(issue.path, what);
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const known = keysAt(schema, issue.path);
    const close = nearest(key, known);
    const hint = close ? `Did you mean "${close}"?` : known.length > 0 ? `Known keys: ${known.join(", ")}.` : `Remove "${key}".`;
    return { message: `${place} has an unknown key "${key}".`, hint };
  }
  if (issue.code === "invalid_type" && issue.input === undefined) {
    return { message: `${place} is missing.`, hint: `Give it a value of type ${issue.expected}.` };
  }
  return { message: `${place} is not valid: ${lowerFirst(issue.message)}.`, hint: `Correct the value of ${place[0]?.toLowerCase()}${place.slice(1)}.` };
}

function placeOf(path: readonly PropertyKey[], what: string): string {
  return path.length === 0 ? `The ${what}` : `"${path.map(String).join(".")}" of the ${what}`;
}

function lowerFirst(text: string): string {
  return text.replace(/\.$/, "").replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

type Definition = { readonly type?: string; readonly [key: string]: unknown };
const definitionOf = (schema: unknown): Definition => (schema as { readonly def?: Definition } | undefined)?.def ?? {};

/** The keys that an object at this place may have, as far as the schema tells. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let places: unknown[] = [schema];
  for (const step of path) places = places.flatMap(unwrap).flatMap((place) => below(place, step));
  return [...new Set(places.flatMap(unwrap).flatMap((place) => Object.keys((definitionOf(place)["shape"] as object | undefined) ?? {})))];
}

function below(schema: unknown, step: PropertyKey): unknown[] {
  const definition = definitionOf(schema);
  if (definition.type === "object") return [(definition["shape"] as Record<PropertyKey, unknown>)[step]].filter((found) => found !== undefined);
  if (definition.type === "array") return [definition["element"]];
  if (definition.type === "record") return [definition["valueType"]];
  return [];
}

function unwrap(schema: unknown): unknown[] {
  const definition = definitionOf(schema);
  if (definition.type === "union") return (definition["options"] as unknown[]).flatMap(unwrap);
  if (definition.type === "lazy") return unwrap((definition["getter"] as () => unknown)());
  if (definition["innerType"] !== undefined) return unwrap(definition["innerType"]);
  return [schema];
}
