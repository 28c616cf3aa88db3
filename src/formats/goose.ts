import type { Dialect } from "../core/dialect.ts";
import { defineFields } from "./draft.ts";
import { markdown } from "./markdown.ts";
import { kept, model, text } from "./rules.ts";
import { mistakenReadonly, mistakenTools, tools } from "./tools.ts";

/** Agents of goose. They know no list of tools; one that is there all the same narrows. */
export const goose: Dialect = markdown({
  id: "goose",
  freeName: true,
  nameFromFile: true,
  description: "optional",
  fields: defineFields({
    name: text("name"),
    description: text("description"),
    model,
    tools: tools(),
    allowedTools: mistakenTools(),
    readonly: mistakenReadonly,
    extensions: kept("loads no code from an agent file"),
    color: kept(),
  }),
});
