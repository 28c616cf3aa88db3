import { READ_ONLY_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { described, fileName, onlyLooks, type Writer, writtenKeys } from "./writer.ts";

/** Writes an agent as a Markdown file of Cursor. */
export const cursorWriter: Writer = {
  folder: ".cursor/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: [],
  notes: { tools: "Cursor has no tool list, only a read-only switch" },
  write: ({ agent }, extra) => {
    const keys = {
      name: agent.name,
      description: described(agent),
      model: modelFor(agent, { words: { inherit: "inherit", fast: "fast" }, bare: "any" }),
      readonly: onlyLooks(agent, READ_ONLY_TOOLS) || agent.permission === "plan" ? true : undefined,
      is_background: agent.background,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
