import type { Dialect } from "../../core/agent/dialect.ts";
import { defineFields } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { flag, kept, model, text } from "../fields/rules.ts";
import { readonlyFlag, tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** Cursor's Markdown files. Cursor has no tools list; a list in the file still restricts the agent. */
export const cursorDialect: Dialect = markdown({
  id: "cursor",
  freeName: true,
  nameFromFile: true,
  description: "optional",
  fields: defineFields({
    ...narrowing(),
    name: text("name"),
    description: text("description"),
    model,
    readonly: readonlyFlag,
    isBackground: flag("background"),
    tools: tools(),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    color: kept(),
  }),
});
