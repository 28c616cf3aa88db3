import type { Dialect } from "../../core/agent/dialect.ts";
import { defineFields } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { kept, model, readThinking, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** Factory's names for groups of tools. */
const GROUPS = {
  readonly: ["read_file", "list_files", "grep_files", "glob"],
  edit: ["edit_file", "write_file"],
  execute: ["bash"],
  web: ["web_search", "http_get"],
  mcp: ["mcp_*"],
};

/** Agents of the program Factory, which calls them droids. */
export const factoryDialect: Dialect = markdown({
  id: "factory",
  freeName: true,
  description: "optional",
  fields: defineFields({
    ...narrowing(GROUPS),
    name: text("name"),
    description: text("description"),
    model,
    reasoningEffort: readThinking,
    tools: tools(GROUPS),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    version: kept(),
    createdAt: kept(),
    updatedAt: kept(),
    location: kept(),
  }),
});
