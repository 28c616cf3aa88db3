import { claudeModels, claudePermissions } from "./claude.ts";
import { frontmatter } from "./markdown.ts";
import { effortWord, modelFor } from "./model-words.ts";
import { gencodeTools } from "./spelling.ts";
import { described, fileName, formOf, some, type Writer, withSpawns, writtenKeys } from "./writer.ts";

/** Writes GenCode's Markdown files. */
export const gencodeWriter: Writer = {
  folder: ".gen/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "mcpServers hooks color permissionConfig".split(" "),
  notes: { spawns: "GenCode reads this field from Task(...) in a list of tools" },
  write: (read, extra) => {
    const { agent, tools, denied } = formOf(read, gencodeTools, { denies: true });
    const keys = {
      name: agent.name,
      description: described(agent),
      whenToUse: agent.whenToUse,
      allowedTools: withSpawns(tools, agent, "Task"),
      disallowedTools: some(denied),
      defaultModel: modelFor(agent, { ...claudeModels, bare: "any", knows: /./ }),
      maxTurns: agent.limits?.maxTurns,
      permissionMode: agent.permission && claudePermissions[agent.permission],
      effort: effortWord(agent, ["low", "medium", "high", "xhigh"]),
      skills: agent.skills,
      background: agent.background,
      isolation: agent.isolation,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
