import { frontmatter } from "./markdown.ts";
import { effortWord, modelFor } from "./model-words.ts";
import { factoryTools } from "./spelling.ts";
import { described, fileName, formOf, hasAllTools, type Writer, writtenKeys } from "./writer.ts";

/** Writes agents of the program Factory, which calls them droids. */
export const factoryWriter: Writer = {
  folder: ".factory/droids",
  file: (name) => `${fileName(name)}.md`,
  carries: ["mcpServers", "version"],
  notes: {
    disallowedTools:
      "Factory has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, factoryTools);
    const keys = {
      name: agent.name,
      description: described(agent),
      model: modelFor(agent, { words: { inherit: "inherit" }, bare: "any" }),
      reasoningEffort: effortWord(agent, ["off", "low", "medium", "high"]),
      tools: hasAllTools(agent) ? undefined : tools,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
