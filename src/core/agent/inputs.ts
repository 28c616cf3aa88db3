import type { JsonSchema } from "../text/json.ts";
import { CrewError } from "../schema/error.ts";
import type { AgentInput } from "./agent.ts";

/** The inputs of an agent as a JSON Schema, for the tool that starts the agent. */
export function convertInputConfigToJsonSchema({
  inputs,
}: Readonly<{ inputs: Readonly<Record<string, AgentInput>> }>): JsonSchema {
  const properties = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, propertyOf(name, input)]));
  const required = Object.entries(inputs).flatMap(([name, input]) => (input.required ? [name] : []));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

const LISTS: Readonly<Record<string, string>> = { "string[]": "string", "number[]": "number" };
/** The types that an input may have. */
export const INPUT_TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  ...Object.keys(LISTS),
]);

function propertyOf(name: string, { type, description }: AgentInput): JsonSchema {
  if (!INPUT_TYPES.has(type))
    throw new CrewError(
      "BAD_AGENT",
      `Unsupported input type '${type}' for parameter '${name}'. Supported types: ${[...INPUT_TYPES].join(", ")}`,
      "Give the input one of these types.",
    );
  const items = LISTS[type];
  return items === undefined ? { description, type } : { description, type: "array", items: { type: items } };
}

/** Describes the problem with the inputs of a task; `undefined` when there is none. */
export function inputProblem(
  declared: Readonly<Record<string, AgentInput>>,
  given: Readonly<Record<string, unknown>>,
): string | undefined {
  const missing = Object.entries(declared).flatMap(([name, { required }]) =>
    required && given[name] === undefined ? [name] : [],
  );
  if (missing.length > 0) return `the input ${missing.join(", ")} is missing`;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(declared, name));
  return unknown.length > 0 ? `the agent has no input ${unknown.join(", ")}` : undefined;
}
