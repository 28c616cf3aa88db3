import type { ForeignName } from "../../core/vocabulary/runner-name.ts";
import type { ForeignTool } from "./tool.ts";

/** All programs that can execute a task; each row is loaded when it is needed. */
export const foreignTable: Readonly<Record<ForeignName, () => Promise<ForeignTool>>> = {
  claude: async () => (await import("./claude.ts")).claudeTool,
  codex: async () => (await import("./codex.ts")).codexTool,
  gemini: async () => (await import("./gemini.ts")).geminiTool,
  opencode: async () => (await import("./opencode.ts")).opencodeTool,
  copilot: async () => (await import("./copilot.ts")).copilotTool,
  pi: async () => (await import("./pi.ts")).piTool,
};
