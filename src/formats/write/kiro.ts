import { modelFor } from "./model-words.ts";
import { kiroTools } from "./spelling.ts";
import { fileName, formOf, some, type Writer, writtenKeys } from "./writer.ts";

/** Writes Kiro's JSON files. */
export const kiroWriter: Writer = {
  folder: ".kiro/agents",
  file: (name) => `${fileName(name)}.json`,
  carries: "mcpServers hooks resources toolAliases toolsSettings includeMcpJson welcomeMessage".split(" "),
  write: (read, extra) => {
    const { agent, tools, denied } = formOf(read, kiroTools, { denies: true });
    const keys = {
      name: agent.name,
      description: agent.description === "" ? undefined : agent.description,
      prompt: agent.instructions,
      tools,
      excludedTools: some(denied),
      model: modelFor(agent, { bare: "any" }),
    };
    return `${JSON.stringify(writtenKeys({ ...keys, ...extra }), null, 2)}\n`;
  },
};
