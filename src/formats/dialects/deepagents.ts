import type { Dialect, FilePlace } from "../../core/agent/dialect.ts";
import { defineFields, type KeyReader } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { model, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** The name of the folder that contains an agent's `AGENTS.md`. */
const folderOf = ({ relative }: FilePlace): string => relative.split("/").at(-2) ?? "";

/** Reads a model written as `provider:model`. */
const providerModel: KeyReader = (draft, value, key) =>
  model(draft, typeof value === "string" ? value.replace(/^([\w-]+):(?=\w)/, "$1/") : value, key);

/** The agent folders of the program deepagents. It has no tools list; a list in the file still restricts the agent. */
export const deepagentsDialect: Dialect = markdown({
  id: "deepagents",
  accepts: (name) => name === "AGENTS.md",
  freeName: true,
  nameFromFile: folderOf,
  fields: defineFields({
    ...narrowing(),
    name: text("name"),
    description: text("description"),
    model: providerModel,
    tools: tools(),
  }),
});
