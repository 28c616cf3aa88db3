import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { ownTools } from "./spelling.ts";
import { csv, formOf, type Writer, writtenKeys } from "./writer.ts";

/** The name of the agent's folder, with the allowed characters only. */
const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 64);

/** Writes `SUBAGENT.md` in a folder of the agent's name. */
export const subagentWriter: Writer = {
  folder: "subagents",
  file: (name) => `${slug(name)}/SUBAGENT.md`,
  carries: ["color"],
  notes: { name: "the folder name allows only lower-case letters, digits and dashes" },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, { ...ownTools, rules: false });
    const keys = {
      name: slug(agent.name),
      description: agent.description === "" ? undefined : agent.description,
      tools: csv(tools),
      model: modelFor(agent, { words: { fast: "fast", balanced: "balanced", powerful: "powerful" } }),
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
