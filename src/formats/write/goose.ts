import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { described, fileName, type Writer, writtenKeys } from "./writer.ts";

/** Writes agents of the program goose. */
export const gooseWriter: Writer = {
  folder: ".goose/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: [],
  notes: { tools: "goose has no tool list: the agent can use every tool there" },
  write: ({ agent }, extra) => {
    const keys = { name: agent.name, description: described(agent), model: modelFor(agent, { bare: "any" }) };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
