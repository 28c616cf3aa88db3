import { z } from "zod";
import { type AgentCard, withWhySkipped } from "../core/delegation/catalog.ts";
import { type Caller, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import { defineTool, type Tool } from "../core/task/tool.ts";
import { inputFault, inputsOf, reservedInputOf } from "./agent-inputs.ts";
import { delegationRefusal, unionDescription } from "./delegate-to-agent.ts";
import { delegating, type Facade } from "./facade.ts";
import { invoke } from "./invocation.ts";
import { createAgentLookup } from "./look.ts";
import { agentNameSchema } from "./names-in-schema.ts";

/** The newer delegation tool of Gemini CLI: a name and a prompt, which becomes the agent's only input. */
export const invokeAgent: Facade = { tools: (caller, name) => [invokeTool(caller, name)] };

function invokeTool(caller: Caller, name: string): Tool {
  const look = createAgentLookup(caller);
  const cards = offered(caller.catalog, caller);
  return defineTool({
    name,
    description: unionDescription(cards),
    input: z.strictObject({
      agent_name: z.string().min(1).describe("the agent").meta(agentNameSchema(cards)),
      prompt: z.string().min(1).describe("the complete task: the agent does not see this conversation"),
    }),
    ...delegating,
    async run({ agent_name: agent, prompt }, context) {
      const { now, news } = await look(context);
      const why = spawnRefusal(agent, caller, now);
      if (why !== undefined)
        return {
          text: withWhySkipped(delegationRefusal(agent, why, caller, offered(now, caller)), now, agent) + news,
          error: true,
        };
      const card = now.agents.find((one) => one.name === agent)!;
      const inputs = inputsFor(card, prompt);
      const fault = reservedInputOf(card) ?? inputFault(card, inputs);
      return fault === undefined ? invoke(card, inputs, { context, news }) : { text: fault + news, error: true };
    },
  });
}

/**
 * Turns a prompt into an agent's inputs: the prompt becomes the value of the only required input, or else of the first
 * input that accepts text.
 */
export function inputsFor(card: AgentCard, prompt: string): Record<string, string> {
  const texts = Object.entries(inputsOf(card)).filter(([, { type }]) => type === "string");
  const [name] = texts.find(([, { required }]) => required) ?? texts[0] ?? ["query"];
  return { [name]: prompt };
}
