import { type AgentCard, withWhySkipped } from "../core/delegation/catalog.ts";
import { type Caller, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import type { Tool } from "../core/task/tool.ts";
import { isRecord, type JsonSchema } from "../core/text/json.ts";
import { RESERVED_INPUT } from "../core/vocabulary/agent-name.ts";
import { inputFault, inputSchema, reservedInputOf } from "./agent-inputs.ts";
import { describeAgents } from "./agent-lines.ts";
import { delegating, type Facade } from "./facade.ts";
import { invoke } from "./invocation.ts";
import { createAgentLookup } from "./look.ts";

/**
 * Gemini CLI's `delegate_to_agent`: one tool for all agents. Its schema is the union of the agents' schemas, each with
 * its own inputs.
 */
export const delegateToAgent: Facade = {
  tools: (caller, name) => [delegateTool(caller, name)],
};

function delegateTool(caller: Caller, name: string): Tool {
  const look = createAgentLookup(caller);
  const cards = offered(caller.catalog, caller).filter((card) => reservedInputOf(card) === undefined);
  return Object.freeze<Tool>({
    name,
    description: unionDescription(cards),
    input: unionSchema(cards),
    ...delegating,
    async run(given, context) {
      const { now, news } = await look(context);
      const { [RESERVED_INPUT]: chosen, ...inputs } = isRecord(given) ? given : {};
      const agent = typeof chosen === "string" ? chosen : "";
      const why = spawnRefusal(agent, caller, now);
      if (why !== undefined)
        return {
          text: withWhySkipped(delegationRefusal(agent, why, caller, offered(now, caller)), now, agent) + news,
          error: true,
        };
      const card = now.agents.find((one) => one.name === agent)!;
      const fault = reservedInputOf(card) ?? inputFault(card, inputs);
      return fault === undefined ? invoke(card, inputs, { context, news }) : { text: fault + news, error: true };
    },
  });
}

const NO_AGENTS = "No agents are currently available.";

/** The description of the tool for the model, with a line for each agent. */
export function unionDescription(cards: readonly AgentCard[]): string {
  if (cards.length === 0) return `Delegates a task to a specialized sub-agent. ${NO_AGENTS}`;
  return describeAgents(cards, {
    before: "Delegates a task to a specialized sub-agent.\n\nAvailable agents:",
    line: (name, text) => (text === "" ? `- **${name}**` : `- **${name}**: ${text}`),
  });
}

/** The input schema of the tool: empty, the schema of a single agent, or a union discriminated by the agent's name. */
export function unionSchema(cards: readonly AgentCard[]): JsonSchema {
  const [only, ...others] = cards;
  if (!only)
    return {
      type: "object",
      properties: { [RESERVED_INPUT]: { type: "string", description: NO_AGENTS } },
      required: [RESERVED_INPUT],
    };
  if (others.length === 0) return branchOf(only);
  if (cards.length <= MOST_BRANCHES)
    return { type: "object", anyOf: cards.map(branchOf), discriminator: { propertyName: RESERVED_INPUT } };
  return {
    type: "object",
    properties: {
      [RESERVED_INPUT]: {
        type: "string",
        description: "name of the agent; give the inputs of that agent as further properties",
      },
    },
    required: [RESERVED_INPUT],
  };
}

/** The maximum number of agents whose inputs the tool's schema lists. With more agents the schema would be too long. */
const MOST_BRANCHES = 60;

function branchOf(card: AgentCard): JsonSchema {
  const fault = reservedInputOf(card);
  if (fault !== undefined) throw new TypeError(fault);
  const { properties, required } = inputSchema(card);
  return {
    type: "object",
    properties: { [RESERVED_INPUT]: { type: "string", const: card.name }, ...(isRecord(properties) ? properties : {}) },
    required: [RESERVED_INPUT, ...(Array.isArray(required) ? (required as string[]) : [])],
  };
}

/** A refusal in the words of Gemini CLI. */
export function delegationRefusal(
  agent: string,
  why: NonNullable<ReturnType<typeof spawnRefusal>>,
  { maxDepth }: Caller,
  cards: readonly AgentCard[],
): string {
  const list = cards.map(({ name, description }) => `'${name}' (${description})`).join(", ");
  const choose = `Available agents are: ${list || "none"}. Please choose a valid ${RESERVED_INPUT}.`;
  return {
    unknown: `Agent '${agent}' not found. ${choose}`,
    disabled: `Agent '${agent}' is disabled. ${choose}`,
    blocked: `Agent '${agent}' is already one of your callers; an agent must not start itself again.`,
    spawns: `Agent '${agent}' may not be started from here. ${choose}`,
    depth: `The maximum delegation depth of ${maxDepth} is reached.`,
  }[why];
}
