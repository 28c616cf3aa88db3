import { version } from "../../core/text/version.ts";
import { instructions } from "./instructions.ts";

/** Lets a client follow a run without waiting: tasks of the protocol, with the run's id. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** What the server says about itself. */
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
