import type { Dialect, FilePlace } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { addProblem, type Draft, defineFields, type Fields } from "../fields/draft.ts";
import { FILE_NAME, stemOf } from "../fields/finish.ts";
import { markdown } from "../fields/markdown.ts";
import {
  choice,
  flag,
  kept,
  limit,
  model,
  note,
  projectInstructions,
  readPermission,
  readSkills,
  readThinking,
  text,
} from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import type { Data } from "../yaml/frontmatter.ts";

/** The keys of Claude Code, in its agent files and in the flag `--agents`. */
export const claudeFields: Fields = defineFields({
  ...narrowing(),
  name: text("name"),
  description: text("description"),
  prompt: text("instructions"),
  tools: tools(),
  disallowedTools: disallowedTools(),
  model,
  permissionMode: readPermission,
  maxTurns: limit("maxTurns"),
  skills: readSkills,
  mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
  hooks: kept("is never run from an agent file"),
  memory: choice("memory", { user: "user", project: "project", local: "local" }),
  background: flag("background"),
  effort: readThinking,
  isolation: choice("isolation", { worktree: "worktree" }),
  color: kept(),
  initialPrompt: kept("only applies to a main agent"),
  criticalSystemReminder_EXPERIMENTAL: kept(),
  omitClaudeMd: projectInstructions({ not: true }),
  version: note,
  author: note,
  license: note,
  tags: note,
  metadata: note,
});

/** Claude Code's Markdown files; plugins and Augment use them too. */
export const claudeDialect: Dialect = markdown({ id: "claude", fields: claudeFields, freeName: true, settle });

/**
 * Completes a file that has only a name or only a description, because it still defines an agent. The origin of the
 * added value is reported.
 */
function settle(draft: Draft, { metadata }: Data, place: FilePlace): void {
  const { agent, from } = draft;
  if (agent.name === undefined && agent.description !== undefined) {
    agent.name = stemOf(place.relative);
    from["name"] = FILE_NAME;
    const message = `The agent has no "name"; it is called "${agent.name}" after its file.`;
    addProblem(draft, "missing-name", message, { severity: "warning" });
  }
  const described = isRecord(metadata) ? metadata["description"] : undefined;
  if (agent.description === undefined && typeof described === "string") {
    agent.description = described;
    from["description"] = "metadata";
    addProblem(draft, "missing-description", 'The description is in "metadata", where only subcrew reads it.', {
      field: "metadata",
      severity: "warning",
      hint: 'Move the description to "description".',
    });
  }
}
