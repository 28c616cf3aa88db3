import { z } from "zod";
import { messageOf } from "../../core/schema/error.ts";
import { defineTool } from "../../core/task/tool.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";

const input = z.strictObject({
  text: z.string().min(1).describe("the JSON text"),
  pointer: z
    .string()
    .regex(/^(?:\/.*)?$/s, "begins with /")
    .optional()
    .describe("the part to show, such as /items/0/name; default: all of it"),
});

/** Parses JSON and prints it, or a part of it, indented. */
export const jsonParse = defineTool({
  name: "json_parse",
  description: "Checks a JSON text and shows it indented, or only the part that a JSON pointer names.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 10_000,
  run({ text, pointer = "" }) {
    let value = parsed(text);
    let place = "";
    for (const step of pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))) {
      value = below(value, step, place || "the value");
      place += `/${step}`;
    }
    return shown(value);
  },
});

/**
 * The value as indented JSON. A number that JavaScript cannot represent exactly is never silently shown as another
 * number.
 */
function shown(value: unknown): string {
  let rounded = false;
  const text = JSON.stringify(
    value,
    (_, inner: unknown) => {
      if (typeof inner !== "number") return inner;
      if (!Number.isFinite(inner)) throw new Error("the JSON contains a number that is too large to be shown");
      rounded ||= Number.isInteger(inner) && !Number.isSafeInteger(inner);
      return inner;
    },
    2,
  );
  return rounded ? `${text}\n[whole numbers above ${Number.MAX_SAFE_INTEGER} are rounded]` : text;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`this is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
}

function below(value: unknown, step: string, place: string): unknown {
  if (Array.isArray(value)) {
    if (/^(?:0|[1-9]\d*)$/.test(step) && Number(step) < value.length) return (value as unknown[])[Number(step)];
    throw new Error(`${place} is a list of length ${value.length}, so "${step}" is not in it`);
  }
  if (isRecord(value) && Object.hasOwn(value, step)) return value[step];
  const known = isRecord(value) ? `; its keys: ${Object.keys(value).slice(0, 20).join(", ") || "none"}` : "";
  throw new Error(`${place} has no "${step}"${known}`);
}
