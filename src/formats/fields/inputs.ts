import type { AgentInput } from "../../core/agent/agent.ts";
import { INPUT_TYPES } from "../../core/agent/inputs.ts";
import { isRecord } from "../../core/text/json.ts";
import { RESERVED_INPUT } from "../../core/vocabulary/agent-name.ts";
import { addProblem, type KeyReader, put } from "./draft.ts";
import { bad } from "./rules.ts";

/** Reads the inputs that a prompt may refer to: `{ name: { type, description, required } }`. */
export const inputs: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "an object of inputs");
  const read: Record<string, AgentInput> = Object.create(null) as Record<string, AgentInput>;
  for (const [name, input] of Object.entries(value)) {
    if (name === RESERVED_INPUT) {
      addProblem(draft, "reserved-name", reservedInputProblem(name), { field: key });
      continue;
    }
    const given = isRecord(input) ? input : {};
    const type = typeof given["type"] === "string" ? given["type"] : "string";
    if (!INPUT_TYPES.has(type)) bad(draft, key, `of known types; "${type}" of "${name}" is read as string`);
    read[name] = {
      type: INPUT_TYPES.has(type) ? type : "string",
      description: typeof given["description"] === "string" ? given["description"] : "",
      required: given["required"] === true,
    };
  }
  put(draft, "inputs", read, key);
};

export const reservedInputProblem = (name: string): string =>
  `"${name}" cannot be an input: the tools that start agents use this name themselves. Choose another name.`;
