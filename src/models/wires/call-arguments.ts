/**
 * Parses the arguments of a call. Invalid JSON is kept as text, and the model gets an error as the result of the call.
 */
export function argumentsFrom(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json;
  }
}
