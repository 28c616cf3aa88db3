import { failed } from "../../core/outcome/outcome.ts";
import type { Result } from "../../core/run/result.ts";
import { isStandardSchema, issuesText, type StandardSchema } from "../../core/schema/standard-schema.ts";

/** The schemas of a run with several results, in their order: `data` is a list, or an object with these names. */
export type PartSchemas = Readonly<{ parts: readonly (StandardSchema | undefined)[]; names?: readonly string[] }>;

/**
 * The result with `data` as the caller's schema returns it, defaults and transformations included. A value that the
 * schema refuses makes the result a failure: `data` never has another type than the caller was promised.
 */
export async function withData(result: Result, schema: StandardSchema | PartSchemas): Promise<Result> {
  if (result.status !== "ok") return result;
  try {
    const data = isStandardSchema(schema)
      ? await validated(schema, result.data, "the run")
      : await partsData(result, schema);
    return { ...result, data };
  } catch (error) {
    if (!(error instanceof WrongData)) throw error;
    const { fault } = failed("INVALID_OUTPUT", error.message, {
      hint: 'An agent with an output schema of its own follows that one; set `schemaPrecedence: "call"` to change the order.',
    });
    return { ...result, status: "failed", fault };
  }
}

async function partsData({ from = [], nodes }: Result, { parts, names }: PartSchemas): Promise<unknown> {
  const values = await Promise.all(
    parts.map((schema, at) => {
      const node = from[at] ?? "";
      const outcome = nodes[node];
      const data = outcome && "data" in outcome ? outcome.data : undefined;
      return schema ? validated(schema, data, `the task "${names?.[at] ?? node}"`) : data;
    }),
  );
  return names ? Object.fromEntries(names.map((name, at) => [name, values[at]])) : values;
}

class WrongData extends Error {}

async function validated(schema: StandardSchema, value: unknown, owner: string): Promise<unknown> {
  const checked = await schema["~standard"].validate(value);
  const wrong = issuesText(checked.issues);
  if (wrong === undefined) return (checked as { value: unknown }).value;
  throw new WrongData(`The result does not match the schema of ${owner}: ${wrong}.`);
}
