import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord, scalarText } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { defineFields, type KeyReader } from "../fields/draft.ts";
import { listOf } from "../fields/lists.ts";
import { isMarkdown } from "../fields/markdown.ts";
import { failedReading, joinReadings, readRecord } from "../fields/records.ts";
import { kept, limit, model, note, number, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { frontmatterLineOf, readFrontmatter, split } from "../yaml/frontmatter.ts";
import { readYaml, yamlFaultOf } from "../yaml/yaml.ts";
import { yamlLineAt } from "../yaml/yaml-place.ts";
import { definitionKind, judgeList, notAnObject } from "./gemini-schema.ts";

const MISSING = [
  "Invalid agent definition: Missing mandatory YAML frontmatter. Agent Markdown files MUST start with YAML frontmatter",
  'enclosed in triple-dashes "---" (e.g., ---\nname: my-agent\n---).',
].join(" ");

const DELEGATION =
  "Validation failed: tools list cannot include 'delegate_to_agent'. Sub-agents cannot delegate to other agents.";

const card =
  (field: "cardUrl" | "cardJson"): KeyReader =>
  (draft, value, key) => {
    draft.agent.remote = { ...draft.agent.remote, [field]: scalarText(value) };
    draft.from["remote"] ??= key;
  };

const auth: KeyReader = (draft, value, key) => {
  if (isRecord(value)) draft.agent.remote = { ...draft.agent.remote, auth: value };
  draft.from["remote"] ??= key;
};

const fields = defineFields(
  {
    kind: note,
    name: text("name"),
    description: text("description"),
    display_name: text("displayName"),
    tools: tools(),
    mcp_servers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    system_prompt: text("instructions"),
    model,
    temperature: number("temperature"),
    max_turns: limit("maxTurns"),
    timeout_mins: limit("maxDurationMs", 60_000),
    agent_card_url: card("cardUrl"),
    agent_card_json: card("cardJson"),
    auth,
  },
  { exact: true },
);

/**
 * Gemini CLI's files: strict, local or remote, also a list of remote agents. Their agents cannot start other agents,
 * and return their result only with the finish tool.
 */
export const geminiDialect: Dialect = {
  id: "gemini",
  accepts: (name) => isMarkdown(name) && !name.startsWith("_"),
  read: (source, place): ParsedFile => {
    const { data, list, body, problems } = readFrontmatter(source, { strict: true });
    const lineOf = (path: readonly string[]): { line?: number } => lineIn(source, path);
    if (list !== undefined) return readList(list, place, lineOf);
    if (data !== undefined && Object.keys(data).length > 0) return readOne(data, { body, place, lineOf });
    const { yaml } = split(source);
    if (yaml === "" || (data === undefined && problems.length === 0))
      return failedReading(problem("no-frontmatter", MISSING));
    const parsed = yaml === undefined ? undefined : readYaml(yaml);
    if (parsed?.ok && isRecord(parsed.value)) return readOne(parsed.value, { body, place, lineOf });
    if (parsed?.ok) return failedReading(problem("bad-definition", notAnObject(parsed.value), { line: 2 }));
    const message = yaml === undefined ? undefined : yamlFaultOf(yaml);
    return failedReading(
      message === undefined ? problems[0]! : problem("bad-yaml", `YAML frontmatter parsing failed: ${message}`),
    );
  },
  lineOf: frontmatterLineOf,
};

/** The line of a value, counted from 1 in the whole file. */
function lineIn(source: string, path: readonly string[]): { line?: number } {
  const { yaml } = split(source);
  const line = yaml === undefined ? undefined : yamlLineAt(yaml, path);
  const before = source.slice(0, source.indexOf("---")).split("\n").length;
  return line === undefined ? {} : { line: line + before };
}

type Reading = Readonly<{ body: string; place: FilePlace; lineOf(path: readonly string[]): { line?: number } }>;

function readOne(data: Data, { body, place, lineOf }: Reading): ParsedFile {
  const verdict = definitionKind(data);
  if ("error" in verdict)
    return failedReading(problem("bad-definition", verdict.error, verdict.path && lineOf(verdict.path)));
  if (namesDelegation(data)) return failedReading(problem("bad-definition", DELEGATION, { field: "tools" }));
  return readRecord(fields, data, {
    place,
    body: verdict.kind === "local" ? body : "",
    nameRule: /^[a-z0-9-_]+$/,
    description: verdict.kind === "local" ? "required" : "optional",
    settle: ({ agent, from }) => {
      agent.completion = "tool";
      from["completion"] = "(dialect)";
    },
  });
}

function readList(list: readonly unknown[], place: FilePlace, lineOf: Reading["lineOf"]): ParsedFile {
  const fault = judgeList(list);
  if (fault !== undefined) return failedReading(problem("bad-definition", fault.error, lineOf(fault.path)));
  return joinReadings(
    list
      .filter(isRecord)
      .map((data, index) => readOne(data, { body: "", place, lineOf: (path) => lineOf([String(index), ...path]) })),
  );
}

function namesDelegation(data: Data): boolean {
  return (listOf(data["tools"]) ?? []).some((name) => toolsNamed(name).includes("task"));
}
