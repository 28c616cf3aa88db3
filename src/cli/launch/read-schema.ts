import { CrewError, messageOf } from "../../core/schema/error.ts";
import { isRecord, type JsonSchema, parseJson } from "../../core/text/json.ts";
import { checkFor, createValidator } from "../../runtime/task/compile-schema.ts";
import { readData } from "./read-input.ts";

/** The JSON Schema that a flag gives: a file name, or the JSON itself. */
export async function readSchema(given: string, flag: string): Promise<JsonSchema> {
  const isInline = given.trimStart().startsWith("{");
  const value = isInline ? inline(given, flag) : await readData(given);
  const what = isInline ? "the value" : `"${given}"`;
  const hint = `Give a JSON Schema, as in {"type": "object", "required": ["answer"]}.`;
  if (!isRecord(value))
    throw new CrewError("BAD_FILE", `${flag}: ${what} is not a valid JSON Schema: it is not an object.`, hint);
  const check = await checkFor(createValidator(), value);
  if ("broken" in check)
    throw new CrewError(
      "BAD_FILE",
      `${flag}: ${what} is not a valid JSON Schema: ${check.broken.replace(/^schema is invalid: /, "")}.`,
      hint,
    );
  return value;
}

function inline(text: string, flag: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new CrewError(
      "BAD_INPUT",
      `${flag}: the text is not JSON: ${messageOf(error)}.`,
      `Put single quotes around the schema, as in ${flag} '{"type": "object"}', or name a file.`,
    );
  }
}
