import { CrewError } from "../../core/schema/error.ts";
import { isRecord, type JsonSchema } from "../../core/text/json.ts";
import { checkFor, createValidator } from "../../runtime/task/compile-schema.ts";
import { readData } from "./read-input.ts";

/** The JSON Schema in a file that a flag names. */
export async function readSchema(file: string, flag: string): Promise<JsonSchema> {
  const value = await readData(file);
  const hint = `Give a JSON Schema, as in {"type": "object", "required": ["answer"]}.`;
  if (!isRecord(value))
    throw new CrewError("BAD_FILE", `${flag}: "${file}" is not a valid JSON Schema: it is not an object.`, hint);
  const check = await checkFor(createValidator(), value);
  if ("broken" in check)
    throw new CrewError(
      "BAD_FILE",
      `${flag}: "${file}" is not a valid JSON Schema: ${check.broken.replace(/^schema is invalid: /, "")}.`,
      hint,
    );
  return value;
}
