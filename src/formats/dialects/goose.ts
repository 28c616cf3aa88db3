import type { Dialect } from "../../core/agent/dialect.ts";
import { defineFields } from "../fields/draft.ts";
import { isMarkdown, markdown } from "../fields/markdown.ts";
import { kept, model, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import { yamlLineOf } from "../yaml/yaml.ts";
import { readRecipe } from "./goose-recipe.ts";

/** Markdown files of goose normally have no tools list; if one is present, it restricts the agent. */
const asMarkdown = markdown({
  id: "goose",
  freeName: true,
  nameFromFile: true,
  description: "optional",
  fields: defineFields({
    ...narrowing(),
    name: text("name"),
    description: text("description"),
    model,
    tools: tools(),
    extensions: kept("has no effect: agent files load no code"),
    color: kept(),
  }),
});

/** The agent files of goose: Markdown, and recipes in YAML and JSON. */
export const gooseDialect: Dialect = {
  id: "goose",
  accepts: (name) => isMarkdown(name) || /\.(?:ya?ml|json)$/.test(name),
  read: (source, place) => (isMarkdown(place.relative) ? asMarkdown.read(source, place) : readRecipe(source, place)),
  lineOf: (source, field) => asMarkdown.lineOf?.(source, field) ?? yamlLineOf(source, field),
};
