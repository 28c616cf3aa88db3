import type { Dialect } from "../core/dialect.ts";
import { defineFields, type Fields } from "./draft.ts";
import { markdown } from "./markdown.ts";
import { choice, flag, kept, limit, model, note, permission, skills, text, thinking } from "./rules.ts";
import { disallowedTools, mistakenReadonly, mistakenTools, tools } from "./tools.ts";

/** The keys of Claude Code, in files and in `--agents`. */
export const claudeFields: Fields = defineFields({
  name: text("name"),
  description: text("description"),
  prompt: text("instructions"),
  tools: tools(),
  allowedTools: mistakenTools(),
  readonly: mistakenReadonly,
  disallowedTools: disallowedTools(),
  model,
  permissionMode: permission,
  maxTurns: limit("maxTurns"),
  skills,
  mcpServers: kept("starts no servers here; `subcrew mcp import` does"),
  hooks: kept("is never run from an agent file"),
  memory: choice("memory", { user: "user", project: "project", local: "local" }),
  background: flag("background"),
  effort: thinking,
  isolation: choice("isolation", { worktree: "worktree" }),
  color: kept(),
  initialPrompt: kept("only counts for a main agent"),
  criticalSystemReminder_EXPERIMENTAL: kept(),
  omitClaudeMd: kept(),
  version: note,
  author: note,
  license: note,
  tags: note,
  metadata: note,
});

/** Claude Code's Markdown files; plugins and Augment use them too. */
export const claude: Dialect = markdown({ id: "claude", fields: claudeFields, freeName: true });
