import { DROPPED_DEEP } from "../../core/task/tool-specs.ts";
import { JsonDepthError, parseJson } from "../../core/text/json.ts";

/**
 * Parses the arguments of a call. Invalid JSON is kept as text, and arguments that are nested too deeply are replaced:
 * the model gets an error as the result of the call.
 */
export function argumentsFrom(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return parseJson(json);
  } catch (error) {
    return error instanceof JsonDepthError ? DROPPED_DEEP : json;
  }
}
