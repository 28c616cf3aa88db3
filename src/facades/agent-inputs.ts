import type { AgentInput } from "../core/agent/agent.ts";
import { convertInputConfigToJsonSchema } from "../core/agent/inputs.ts";
import type { AgentCard } from "../core/delegation/catalog.ts";
import type { JsonSchema } from "../core/text/json.ts";
import { RESERVED_INPUT } from "../core/vocabulary/agent-name.ts";
import { ownEntry } from "../core/text/json.ts";

/** The input of an agent that declares no inputs: one text named `query`. */
const QUERY: Readonly<Record<string, AgentInput>> = {
  query: {
    type: "string",
    description: "the complete task: the agent does not see this conversation",
    required: true,
  },
};

/** The inputs that a caller can give to an agent. An agent that declares no inputs has a single input, the query. */
export const inputsOf = ({ inputs }: Pick<AgentCard, "inputs">): Readonly<Record<string, AgentInput>> =>
  inputs === undefined || Object.keys(inputs).length === 0 ? QUERY : inputs;

/** The reserved input name because of which an agent cannot be called; `undefined` when it can. */
export function reservedInputOf({ name, inputs }: Pick<AgentCard, "name" | "inputs">): string | undefined {
  if (inputs === undefined || !Object.hasOwn(inputs, RESERVED_INPUT)) return undefined;
  return `Agent '${name}' cannot have an input parameter named '${RESERVED_INPUT}' as it is a reserved parameter for delegation.`;
}

/** The JSON Schema of an agent's inputs. */
export const inputSchema = (card: AgentCard): JsonSchema => convertInputConfigToJsonSchema({ inputs: inputsOf(card) });

/** The problem of given inputs, in the words of Gemini CLI; `undefined` when they are valid. */
export function inputFault(card: AgentCard, given: Readonly<Record<string, unknown>>): string | undefined {
  const declared = Object.entries(inputsOf(card));
  const missing = declared
    .filter(([name, { required }]) => required && given[name] === undefined)
    .map(([name]) => `${name}: Required`);
  const wrong = declared.flatMap(([name, { type }]) =>
    given[name] === undefined || isOf(type, given[name])
      ? []
      : [`${name}: Expected ${type}, received ${typeof given[name]}`],
  );
  const unknown = Object.keys(given)
    .filter((name) => !declared.some(([known]) => known === name))
    .map((name) => `${name}: Unknown input`);
  const problems = [...missing, ...wrong, ...unknown];
  if (problems.length === 0) return undefined;
  const expected = declared.map(
    ([name, { type, required }]) => `'${name}' (${required ? "required" : "optional"} ${type})`,
  );
  return `${problems.join(", ")}. Expected inputs: ${expected.join(", ")}.`;
}

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  "string[]": (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  "number[]": (value) => Array.isArray(value) && value.every((one) => typeof one === "number"),
};
const isOf = (type: string, value: unknown): boolean => ownEntry(checks, type)?.(value) ?? true;

/** Builds the prompt of an agent from its inputs: the single text, or all inputs with their names. */
export function promptFromInputs(card: AgentCard, given: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(given).map(
    ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  if (entries.length === 1 && inputsOf(card) === QUERY) return entries[0]![1];
  return entries.map(([name, text]) => `${name}: ${text}`).join("\n") || "Begin.";
}

/** The inputs that are passed to the agent by name. An agent that declares no inputs gets only the prompt. */
export const declaredInputs = (card: AgentCard, given: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  inputsOf(card) === QUERY ? {} : { ...given };
