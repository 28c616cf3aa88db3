import { version } from "../../core/text/version.ts";
import { instructions } from "./instructions.ts";

/** The extension for MCP tasks. It lets a client follow a run by its id without waiting. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** The server's name, version and capabilities. */
export const serverFace = {
  info: { name: "subcrew", version },
  capabilities: {
    tools: {},
    prompts: {},
    resources: {},
    extensions: { [TASKS_EXTENSION]: {} },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  },
  instructions,
} as const;
