import type { z } from "zod";
import { isRecord } from "../text/json.ts";
import { nearest } from "../text/nearest.ts";
import { CrewError, type ErrorCode } from "./error.ts";
import { descriptionAt, keysAt } from "./schema-place.ts";

/** Parses an external value; throws an error that names the place, the problem and the fix. */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown, { code, what }: { code: ErrorCode; what: string }): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, hint } = describe(deepest(parsed.error.issues[0]!), { schema, value, what });
  throw new CrewError(code, message, hint);
}

/** Returns all validation errors of an external value, each with its path. */
export function faultsOf(
  schema: z.ZodType,
  value: unknown,
  what: string,
): readonly (Said & { path: readonly string[] })[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(deepest).map((issue) => {
    const key = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    return { ...describe(issue, { schema, value, what }), path: [...issue.path, ...key].map(String) };
  });
}

type Issue = z.core.$ZodIssue;
type Parsed = Readonly<{ schema: z.ZodType; value: unknown; what: string }>;
type Said = Readonly<{ message: string; hint: string }>;

/**
 * The most helpful problem of a union. The union itself only says "no variant fits", but the variant that matched
 * furthest tells the actual problem.
 */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return issue;
  const inner = issue.errors
    .map((variant) => variant[0])
    .filter((first) => first !== undefined)
    .map(deepest)
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  return inner && inner.path.length > 0 ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

function describe(issue: Issue, { schema, value, what }: Parsed): Said {
  const place = placeOf(issue.path, what);
  const found = valueAt(value, issue.path);
  const description = descriptionAt(schema, issue.path);
  const about = (otherwise: string): string => (description === "" ? otherwise : `Expected here: ${description}.`);
  switch (issue.code) {
    case "unrecognized_keys":
      return unknownKey(place, issue.keys[0] ?? "", keysAt(schema, issue.path));
    case "invalid_type":
      return found === undefined
        ? { message: `${place} is missing.`, hint: about(`Give ${typeName(issue.expected)}.`) }
        : {
            message: `${place} has to be ${typeName(issue.expected)}, not ${kindOf(found)}.`,
            hint: about(`Give ${typeName(issue.expected)}.`),
          };
    case "too_small":
      return issue.origin === "number"
        ? {
            message: `${place} has to be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}.`,
            hint: about("Give a larger number."),
          }
        : { message: `${place} is empty.`, hint: about("Add at least one entry.") };
    case "too_big":
      return {
        message: `${place} has to be at most ${issue.maximum}${issue.origin === "string" ? " characters long" : ""}.`,
        hint: about("Use a smaller value."),
      };
    case "invalid_value":
      return oneOf(place, found, issue.values);
    case "invalid_union":
      return unionSaid(issue, { place, found, about });
    case "invalid_key":
      return {
        message: `${placeOf(issue.path.slice(0, -1), what)} has the key "${String(issue.path.at(-1))}", which is not allowed.`,
        hint: sentence(issue.issues[0]?.message ?? ""),
      };
    default:
      return { message: `${place} is not valid.`, hint: sentence(issue.message) };
  }
}

function unknownKey(place: string, key: string, known: readonly string[]): Said {
  const close = nearest(key, known);
  const hint =
    close !== undefined
      ? `Did you mean "${close}"?`
      : known.length > 0
        ? `Known keys: ${known.join(", ")}.`
        : `Remove "${key}".`;
  return { message: `${place} has an unknown key "${key}".`, hint };
}

/** The problem text for a value that is missing or is not one of the allowed values. */
function oneOf(place: string, found: unknown, values: readonly unknown[]): Said {
  const names = values.map(String);
  const close = typeof found === "string" ? nearest(found, names) : undefined;
  const list = names.length === 1 ? `Use ${names[0]}.` : `Use one of: ${names.join(", ")}.`;
  const message = found === undefined ? `${place} is missing.` : `${place} cannot be ${shown(found)}.`;
  return { message, hint: close === undefined ? list : `Did you mean "${close}"?` };
}

function unionSaid(
  issue: Extract<Issue, { code: "invalid_union" }>,
  { place, found, about }: { place: string; found: unknown; about: (otherwise: string) => string },
): Said {
  if (issue.errors.length === 0 && "options" in issue && Array.isArray(issue.options))
    return oneOf(place, found, issue.options);
  const first = issue.errors.map((variant) => variant[0]).filter((error) => error !== undefined);
  const values = first.find((error) => error.code === "invalid_value");
  if (values?.code === "invalid_value" && typeof found === "string") return oneOf(place, found, values.values);
  const types = first.flatMap((error) => (error.code === "invalid_type" ? [typeName(error.expected)] : []));
  return {
    message:
      types.length > 0 ? `${place} has to be ${types.join(" or ")}, not ${kindOf(found)}.` : `${place} is not valid.`,
    hint: about("Correct this value."),
  };
}

function placeOf(path: readonly PropertyKey[], what: string): string {
  return path.length === 0 ? `The ${what}` : `"${path.map(String).join(".")}" of the ${what}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (Array.isArray(at)) return at[Number(step)] as unknown;
    return isRecord(at) && Object.hasOwn(at, step) ? at[String(step)] : undefined;
  }, value);
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeName(typeof value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? `"${value.length > 40 ? `${value.slice(0, 37)}...` : value}"` : kindOf(value);
}

function sentence(text: string): string {
  const trimmed = text.replace(/\.$/, "");
  return trimmed === "" ? "Correct this value." : `${trimmed[0]?.toUpperCase()}${trimmed.slice(1)}.`;
}
