import { stringify } from "smol-toml";
import type { PermissionMode } from "../../core/agent/agent.ts";
import { READ_ONLY_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { effortWord, modelFor } from "./model-words.ts";
import { described, fileName, onlyLooks, type Writer, writtenKeys } from "./writer.ts";

const SANDBOX: Readonly<Partial<Record<PermissionMode, string>>> = {
  plan: "read-only",
  acceptEdits: "workspace-write",
  auto: "workspace-write",
  bypass: "danger-full-access",
};

/** Writes roles of Codex (its word for agents). */
export const codexWriter: Writer = {
  folder: ".codex/agents",
  file: (name) => `${fileName(name)}.toml`,
  carries: [],
  notes: {
    tools: "Codex has no tool list, only a sandbox",
    disallowedTools: "Codex has no tool list, only a sandbox",
    permission: "the closest sandbox mode of Codex",
    model: "Codex knows the models of OpenAI, by their ids",
  },
  write: ({ agent }, extra) => {
    const looks = agent.permission === undefined && onlyLooks(agent, READ_ONLY_TOOLS);
    const keys = {
      name: agent.name,
      description: described(agent),
      model: modelFor(agent, { bare: ["openai"], knows: /^(?:gpt|o\d|codex)/i }),
      model_reasoning_effort: effortWord(agent, ["minimal", "low", "medium", "high", "xhigh"]),
      sandbox_mode: looks || agent.sandbox !== undefined ? "read-only" : agent.permission && SANDBOX[agent.permission],
      developer_instructions: agent.instructions.trim() === "" ? described(agent) : agent.instructions,
    };
    return `${stringify(writtenKeys({ ...keys, ...extra })).trimEnd()}\n`;
  },
};
