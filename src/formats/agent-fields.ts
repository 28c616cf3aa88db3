import { FINISH_TOOL } from "../core/policy/permit.ts";
import { isRecord } from "../core/text/json.ts";
import { nameFault } from "../core/vocabulary/agent-name.ts";
import type { Thinking } from "../core/vocabulary/thinking.ts";
import { toolsNamed } from "../core/vocabulary/tool-names.ts";
import { ompFields } from "./dialects/omp.ts";
import { emptyDraft, readFields } from "./fields/draft.ts";
import { listOf, parseArrayOrCSV } from "./fields/lists.ts";
import { flagOf } from "./fields/rules.ts";

/** The frontmatter of an agent file in the format of oh-my-pi. */
export type AgentFields = {
  name: string;
  description: string;
  /** The tools as written in the file, plus the tool that returns the result. */
  tools?: string[];
  spawns?: "*" | string[];
  model?: string[];
  thinkingLevel?: Thinking;
  /** The output schema as written in the file, even if it is not a valid schema. */
  output?: unknown;
  blocking?: boolean;
  autoloadSkills?: string[];
};

/** The tool with which an agent returns its result, as oh-my-pi names it. */
const SUBMIT = "submit_result";

/** Reads a frontmatter as oh-my-pi does; `null` when it has no name, a reserved name or no description. */
export function parseAgentFields(frontmatter: Readonly<Record<string, unknown>>): AgentFields | null {
  const draft = emptyDraft();
  readFields(ompFields, frontmatter, draft);
  const { agent, from } = draft;
  if (!agent.name || !agent.description || nameFault(agent.name) === "reserved-name") return null;
  // oh-my-pi accepts only strings here; other file formats accept a number as the name of an agent.
  if (["name", "description"].some((field) => typeof frontmatter[from[field] ?? field] !== "string")) return null;
  const fields: AgentFields = { name: agent.name, description: agent.description };
  if (from["tools"] !== undefined) fields.tools = withCompletion(writtenTools(frontmatter[from["tools"]]));
  if (agent.spawns !== undefined) fields.spawns = agent.spawns === "*" ? "*" : [...agent.spawns];
  else if (agent.tools?.includes("task")) fields.spawns = "*";
  const model = parseArrayOrCSV(agent.model);
  if (model !== undefined) fields.model = model;
  if (agent.thinking !== undefined) fields.thinkingLevel = agent.thinking;
  const schema = frontmatter[from["output"] ?? "output"];
  if (schema !== undefined) fields.output = schema;
  const blocking = flagOf(frontmatter["blocking"]);
  if (blocking !== undefined) fields.blocking = blocking;
  if (agent.skills !== undefined) fields.autoloadSkills = [...agent.skills];
  return fields;
}

/** The tools that a value names: a list, words, or a map in which the allowed tools are true. */
function writtenTools(value: unknown): string[] {
  if (!isRecord(value)) return listOf(value) ?? [];
  return Object.keys(value).filter((tool) => flagOf(value[tool]) === true);
}

/** Adds the tool that returns the result to a list, unless the list already contains it under any of its names. */
export function withCompletion(tools: readonly string[]): string[] {
  return tools.some((name) => toolsNamed(name).includes(FINISH_TOOL)) ? [...tools] : [...tools, SUBMIT];
}
