import type { PermissionMode } from "../../core/agent/agent.ts";
import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { qwenTools } from "./spelling.ts";
import { described, fileName, formOf, some, type Writer, writtenKeys } from "./writer.ts";

const APPROVAL: Readonly<Record<PermissionMode, string>> = {
  plan: "plan",
  default: "default",
  acceptEdits: "auto-edit",
  auto: "auto-edit",
  dontAsk: "default",
  bypass: "yolo",
};

/** Writes Qwen Code's Markdown files. */
export const qwenWriter: Writer = {
  folder: ".qwen/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "mcpServers hooks color".split(" "),
  write: (read, extra) => {
    const { agent, tools, denied } = formOf(read, qwenTools, { denies: true });
    const { maxTurns, maxDurationMs } = agent.limits ?? {};
    const keys = {
      name: agent.name,
      description: described(agent),
      tools,
      disallowedTools: some(denied),
      model: modelFor(agent, { words: { inherit: "inherit", fast: "fast" }, bare: "any" }),
      approvalMode: agent.permission && APPROVAL[agent.permission],
      maxTurns: maxDurationMs === undefined ? maxTurns : undefined,
      runConfig:
        maxDurationMs === undefined
          ? undefined
          : writtenKeys({ max_turns: maxTurns, max_time_minutes: maxDurationMs / 60_000 }),
      background: agent.background,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
