/** Parses the arguments of a call. Invalid JSON is kept as text, and the loop answers it with an error. */
export function argumentsFrom(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json;
  }
}
