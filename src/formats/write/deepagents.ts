import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { described, fileName, type Writer, writtenKeys } from "./writer.ts";

/** Writes agents of the program deepagents, each in a folder of its own. */
export const deepagentsWriter: Writer = {
  folder: ".deepagents/agents",
  file: (name) => `${fileName(name)}/AGENTS.md`,
  carries: [],
  notes: { tools: "deepagents has no tool list: the agent can use every tool there" },
  write: ({ agent }, extra) => {
    const model = modelFor(agent, {})?.toString().replace("/", ":");
    const keys = { name: agent.name, description: described(agent), model };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
