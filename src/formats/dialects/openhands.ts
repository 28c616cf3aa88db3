import type { Dialect } from "../../core/agent/dialect.ts";
import { ASK_ALL, narrowBy } from "../fields/agent-rules.ts";
import { addProblem, defineFields, type KeyReader } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { bad, kept, limit, model, readSkills, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

const EDITOR = ["read_file", "write_file", "edit_file", "list_files"];

/** The names of OpenHands for its tools. */
const GROUPS = {
  terminal: ["bash"],
  terminaltool: ["bash"],
  executebash: ["bash"],
  bashtool: ["bash"],
  fileeditor: EDITOR,
  fileeditortool: EDITOR,
  strreplaceeditor: EDITOR,
  planningfileeditor: EDITOR,
  tasktracker: ["todo"],
  tasktrackertool: ["todo"],
  browsertoolset: ["http_get"],
  browser: ["http_get"],
  delegate: ["task"],
  tasktoolset: ["task"],
};

/** Reads when a person is asked for confirmation. "never" does not grant any permission in subcrew. */
const permissionMode: KeyReader = (draft, value, key) => {
  if (value === "never_confirm")
    return addProblem(draft, "no-effect", `"${key}: never_confirm" grants no permissions in subcrew.`, { field: key });
  if (value === "always_confirm" || value === "confirm_risky") {
    if (value === "always_confirm") narrowBy(draft, ASK_ALL, key);
    draft.agent.permission = "default";
    draft.from["permission"] = key;
    return;
  }
  draft.agent.permission = "plan"; // the value is invalid, so the agent gets read-only tools
  bad(draft, key, "one of always_confirm, never_confirm, confirm_risky; the agent may only read");
};

/** OpenHands' Markdown files. Their text is appended to the prompt of the caller. */
export const openhandsDialect: Dialect = markdown({
  id: "openhands",
  freeName: true,
  nameFromFile: true,
  description: "optional",
  fields: defineFields({
    ...narrowing(GROUPS),
    name: text("name"),
    description: text("description"),
    tools: tools(GROUPS),
    model,
    skills: readSkills,
    maxIterationPerRun: limit("maxTurns"),
    maxBudgetPerRun: kept("is not enforced in subcrew; use `--max-usd`"),
    permissionMode,
    profileStoreDir: kept(),
    mcpConfig: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    hooks: kept("is never run from an agent file"),
    condenser: kept(),
    color: kept(),
  }),
});
