import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { ASK_ALL, narrowBy } from "../fields/agent-rules.ts";
import { addProblem, type Draft, defineFields, type Fields, type KeyReader } from "../fields/draft.ts";
import { stemOf } from "../fields/finish.ts";
import { promptOrFile } from "../fields/include.ts";
import { listOf } from "../fields/lists.ts";
import { markdown } from "../fields/markdown.ts";
import { failedReading, readRecord } from "../fields/records.ts";
import { bad, kept, model, text } from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import { opencodePermission } from "../fields/permission-map.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { asData, jsonLineOf, readJson } from "../yaml/json.ts";
import { narrowLikeKiro } from "./kiro-rules.ts";

const GROUPS = {
  read: ["read_file", "list_files", "glob", "grep_files"],
  write: ["write_file", "edit_file"],
  shell: ["bash"],
  web: ["web_search", "http_get"],
  "@builtin": ["*"],
  executebash: ["bash"],
  useaws: [],
};

/** Checks only that the value is a list. The lists are read together with the tools, after all other keys. */
const list: KeyReader = (draft, value, key) => {
  if (listOf(value) === undefined) bad(draft, key, "a list of tools");
};
const record: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) bad(draft, key, "an object with settings for each tool");
};

/** `{ rules: [...] }` is a form that Kiro has not specified yet, so every tool it may restrict needs approval. */
const ruleset: KeyReader = (draft, value, key) => {
  if (typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string")))
    return opencodePermission(draft, value, key);
  if (isRecord(value) && value["deny"] !== undefined) disallowedTools(GROUPS)(draft, value["deny"], key);
  narrowBy(draft, ASK_ALL, key);
  addProblem(draft, "tool-rule", `"${key}" is not understood; every call needs approval instead.`, { field: key });
};

const settle = (draft: Draft, data: Data): void => narrowLikeKiro(draft, data, GROUPS);

const fieldsFor = (prompt: KeyReader): Fields =>
  defineFields({
    ...narrowing(GROUPS),
    name: text("name"),
    description: text("description"),
    prompt,
    tools: tools(GROUPS),
    excludedTools: disallowedTools(GROUPS),
    model,
    allowedTools: list,
    permissions: ruleset,
    toolAliases: kept(),
    toolsSettings: record,
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    includeMcpJson: kept(),
    includePowers: kept(),
    resources: kept(),
    hooks: kept("is never run from an agent file"),
    welcomeMessage: kept(),
    keyboardShortcut: kept(),
    $schema: kept(),
  });

const asMarkdown = markdown({
  id: "kiro",
  fields: fieldsFor(text("instructions")),
  freeName: true,
  nameFromFile: true,
  description: "optional",
  settle,
});

/** Kiro's agents, in JSON and in Markdown. */
export const kiroDialect: Dialect = {
  id: "kiro",
  accepts: (name) => name.endsWith(".json") || name.endsWith(".md"),
  read: (source, place) =>
    place.relative.endsWith(".json") ? readJsonAgent(source, place) : asMarkdown.read(source, place),
  lineOf: (source, field) => asMarkdown.lineOf?.(source, field) ?? jsonLineOf(source, field),
};

function readJsonAgent(source: string, place: FilePlace): ParsedFile {
  const read = readJson(source);
  if (!read.ok)
    return failedReading(
      problem("bad-json", `The Kiro agent file is not valid JSON: ${read.reason}.`, { line: read.line }),
    );
  const data = asData(read.value);
  if (data === undefined)
    return failedReading(problem("bad-json", "The agent file does not contain a single JSON object.", { line: 1 }));
  const fields = fieldsFor(promptOrFile(place));
  return readRecord(fields, data, {
    place,
    freeName: true,
    description: "optional",
    defaultName: stemOf(place.relative),
    settle: (draft) => settle(draft, data),
  });
}
