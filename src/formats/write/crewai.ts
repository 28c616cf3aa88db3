import { yamlOf } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { described, hasAllTools, type Writer, writtenKeys } from "./writer.ts";

/** Writes CrewAI's file of agents, which then contains only this agent. */
export const crewaiWriter: Writer = {
  folder: "config",
  file: () => "agents.yaml",
  carries: [],
  notes: {
    instructions: "CrewAI builds the prompt from role, backstory and goal",
    displayName: "an agent of CrewAI has a role",
    tools: "CrewAI gives tools in code; the names are listed for that code",
  },
  write: ({ agent }, extra) => {
    const { maxTurns, maxDurationMs } = agent.limits ?? {};
    const keys = {
      role: agent.displayName ?? agent.name,
      goal: described(agent),
      backstory: agent.instructions,
      llm: modelFor(agent, {}),
      tools: hasAllTools(agent) ? undefined : agent.tools,
      max_iter: maxTurns,
      max_execution_time: maxDurationMs === undefined ? undefined : Math.ceil(maxDurationMs / 1000),
      allow_delegation: agent.spawns === "*" ? true : undefined,
    };
    return yamlOf({ [agent.name]: writtenKeys({ ...keys, ...extra }) });
  },
};
