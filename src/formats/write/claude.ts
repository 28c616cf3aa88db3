import type { PermissionMode } from "../../core/agent/agent.ts";
import { frontmatter } from "./markdown.ts";
import { effortWord, type ModelWords, modelFor } from "./model-words.ts";
import { claudeTools } from "./spelling.ts";
import { csv, described, fileName, formOf, some, type Writer, withSpawns, writtenKeys } from "./writer.ts";

export const claudeModels: ModelWords = {
  words: {
    inherit: "inherit",
    fast: "haiku",
    balanced: "sonnet",
    powerful: "opus",
    haiku: "haiku",
    sonnet: "sonnet",
    opus: "opus",
    fable: "fable",
  },
  bare: ["anthropic"],
  knows: /^claude/i,
};

/** The names that Claude Code has for permission modes. */
export const claudePermissions: Readonly<Record<PermissionMode, string>> = {
  plan: "plan",
  default: "default",
  acceptEdits: "acceptEdits",
  auto: "auto",
  dontAsk: "dontAsk",
  bypass: "bypassPermissions",
};

export const claudeWriter: Writer = {
  folder: ".claude/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "mcpServers hooks color initialPrompt metadata version author license tags".split(" "),
  notes: {
    spawns: "Claude Code reads this field from Agent(...) in a list of tools",
    model: "Claude Code knows only its own models",
  },
  write: (read, extra) => {
    const { agent, tools, denied } = formOf(read, claudeTools, { denies: true });
    const keys = {
      name: agent.name,
      description: described(agent),
      tools: agent.tools?.includes("*") ? undefined : csv(withSpawns(tools, agent, "Agent")),
      disallowedTools: csv(some(denied)),
      model: modelFor(agent, claudeModels),
      omitClaudeMd: agent.projectInstructions === "off" ? true : undefined,
      permissionMode: agent.permission && claudePermissions[agent.permission],
      maxTurns: agent.limits?.maxTurns,
      skills: agent.skills,
      memory: agent.memory,
      background: agent.background,
      effort: effortWord(agent, ["low", "medium", "high", "xhigh"]),
      isolation: agent.isolation,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
