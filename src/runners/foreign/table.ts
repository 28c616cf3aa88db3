import type { ForeignName } from "../../core/vocabulary/runner-name.ts";
import type { ForeignTool } from "./tool.ts";

/** Every tool that a task can be handed to; a row is read when it is needed. */
export const foreignTable: Readonly<Record<ForeignName, () => Promise<ForeignTool>>> = {
  claude: async () => (await import("./claude.ts")).claude,
  codex: async () => (await import("./codex.ts")).codex,
  gemini: async () => (await import("./gemini.ts")).gemini,
  opencode: async () => (await import("./opencode.ts")).opencode,
  copilot: async () => (await import("./copilot.ts")).copilot,
  pi: async () => (await import("./pi.ts")).pi,
};
