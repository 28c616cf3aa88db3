import type { AgentCard } from "../core/delegation/catalog.ts";
import { type Caller, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import type { Tool } from "../core/task/tool.ts";
import { cutHead } from "../core/text/cut.ts";
import { isRecord } from "../core/text/json.ts";
import { inputFault, inputSchema, reservedInputOf } from "./agent-inputs.ts";
import { delegationRefusal } from "./delegate-to-agent.ts";
import { delegating, type Facade } from "./facade.ts";
import { invoke } from "./invocation.ts";
import { createAgentLookup } from "./look.ts";

/** Gemini CLI's other form of delegation: one tool per agent, with the name of the agent. */
export const agentTools: Facade = {
  tools: (caller) =>
    offered(caller.catalog, caller)
      .filter((card) => TOOL_NAME.test(card.name) && reservedInputOf(card) === undefined)
      .map((card) => agentTool(card, caller)),
};

/** Matches names that providers accept for a tool. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const DESCRIPTION_CHARS = 600;

/** Offers one agent as a tool; whether it works locally or remotely is decided when it runs. */
export function agentTool(card: AgentCard, caller: Caller): Tool {
  const look = createAgentLookup(caller);
  const { text } = cutHead(card.description.replace(/\s+/g, " "), DESCRIPTION_CHARS);
  return Object.freeze<Tool>({
    name: card.name,
    description: card.readOnly ? `${text} [read-only]` : text,
    input: inputSchema(card),
    ...delegating,
    async run(given, context) {
      const { now, news } = await look(context);
      const why = spawnRefusal(card.name, caller, now);
      if (why !== undefined)
        return { text: delegationRefusal(card.name, why, caller, offered(now, caller)) + news, error: true };
      const current = now.agents.find(({ name }) => name === card.name)!;
      const inputs = isRecord(given) ? given : {};
      const fault = inputFault(current, inputs);
      return fault === undefined ? invoke(current, inputs, { context, news }) : { text: fault + news, error: true };
    },
  });
}
