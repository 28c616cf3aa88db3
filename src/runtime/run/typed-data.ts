import { failed } from "../../core/outcome/outcome.ts";
import type { Result } from "../../core/run/result.ts";
import { issuesText, type StandardSchema } from "../../core/schema/standard-schema.ts";

/**
 * The result with `data` as the schema of the caller's library returns it, defaults and transformations included. A value
 * that the schema refuses makes the result a failure: `data` never has another type than the caller was promised.
 */
export async function withData(result: Result, schema: StandardSchema): Promise<Result> {
  if (result.status !== "ok") return result;
  const checked = await schema["~standard"].validate(result.data);
  const wrong = issuesText(checked.issues);
  if (wrong === undefined) return { ...result, data: (checked as { value: unknown }).value };
  const { fault } = failed("INVALID_OUTPUT", `The result does not match the schema of the run: ${wrong}.`, {
    hint: 'An agent with an output schema of its own follows that one; set `schemaPrecedence: "call"` to change the order.',
  });
  return { ...result, status: "failed", fault };
}
