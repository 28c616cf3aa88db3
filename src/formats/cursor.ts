import type { Dialect } from "../core/dialect.ts";
import { defineFields, type Rule } from "./draft.ts";
import { lookOnly } from "./finish.ts";
import { markdown } from "./markdown.ts";
import { bad, flag, flagOf, kept, model, text } from "./rules.ts";
import { mistakenTools, tools } from "./tools.ts";

/** `readonly: true` leaves what only looks; a value that cannot be read counts as true. */
export const readonlyFlag: Rule = (draft, value, key) => {
  const read = flagOf(value);
  if (read === undefined) bad(draft, key, "true or false; it counts as true");
  if (read !== false) lookOnly(draft, key);
};

/** Cursor's Markdown files. They know no list of tools; one that is there all the same narrows. */
export const cursor: Dialect = markdown({
  id: "cursor",
  freeName: true,
  nameFromFile: true,
  description: "optional",
  fields: defineFields({
    name: text("name"),
    description: text("description"),
    model,
    readonly: readonlyFlag,
    isBackground: flag("background"),
    tools: tools(),
    allowedTools: mistakenTools(),
    mcpServers: kept("starts no servers here; `subcrew mcp import` does"),
    color: kept(),
  }),
});
