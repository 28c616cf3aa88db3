import { pathToFileURL } from "node:url";
import { z } from "zod";
import { agentNumbers } from "../core/agent/agent-numbers.ts";
import type { Agent } from "../core/agent/agent.ts";
import { withCanonicalTools } from "../core/agent/canonical-tools.ts";
import type { ReadAgent } from "../core/agent/dialect.ts";
import { CrewError, messageOf } from "../core/schema/error.ts";
import { parseAs } from "../core/schema/parse.ts";
import { isRecord } from "../core/text/json.ts";
import { AGENT_NAME } from "../core/vocabulary/agent-name.ts";

/**
 * The agents that a module exports, alone, in a list or by name. This runs the module's code, so it is called only for
 * files that the user named; discovery never does.
 */
export async function loadAgentModule(file: string): Promise<readonly ReadAgent[]> {
  const exported = (await importModule(file)) as Record<string, unknown>;
  const agents = [...new Set(Object.values(exported).flat())].filter(isAgent);
  if (agents.length === 0) {
    throw new CrewError(
      "BAD_AGENT",
      `${file} exports no agent.`,
      "Export the result of defineAgent({ name, description, instructions }).",
    );
  }
  for (const agent of agents)
    parseAs(z.looseObject(agentNumbers), agent, { code: "BAD_AGENT", what: `agent "${agent.name}" of ${file}` });
  return agents.map((agent) => ({ agent: withCanonicalTools(agent), from: fromModule(agent), raw: {}, kept: [] }));
}

async function importModule(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const isTypes = error instanceof Error && "code" in error && error.code === "ERR_UNKNOWN_FILE_EXTENSION";
    const hint = isTypes
      ? "This Node cannot read TypeScript: use Node 22.18 or newer, or compile the file to .js."
      : "Correct the module.";
    throw new CrewError("BAD_AGENT", `${file} cannot be loaded: ${messageOf(error)}`, hint, { cause: error });
  }
}

function isAgent(value: unknown): value is Agent {
  if (!isRecord(value)) return false;
  const { name, description, instructions } = value;
  return (
    typeof name === "string" &&
    AGENT_NAME.test(name) &&
    typeof description === "string" &&
    typeof instructions === "string"
  );
}

const fromModule = (agent: Agent): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(agent).map((key) => [key, key]));
