import type { Agent } from "../../core/agent/agent.ts";
import { isRecord } from "../../core/text/json.ts";
import { isExclusion } from "../../core/vocabulary/spawn-list.ts";
import { ALL_TOOLS, DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import { frontmatter } from "./markdown.ts";
import { effortWord, modelFor } from "./model-words.ts";
import { opencodeTools, spelled } from "./spelling.ts";
import { type Form, formOf, hasAllTools, type Writer, writtenKeys } from "./writer.ts";

/** Writes the Markdown files of opencode and Kilo. The path of the file gives the agent's name. */
export const opencodeWriter: Writer = {
  folder: ".opencode/agent",
  file: (name) => `${name.replaceAll(":", "/")}.md`,
  carries: "color variant options".split(" "),
  notes: {
    tools: "opencode has one permission for everything that changes files",
    model: "opencode names models as provider/model",
  },
  write: (read, extra) => {
    const form = formOf(read, opencodeTools, { denies: true, rules: true });
    const { agent } = form;
    const keys = {
      description: agent.description === "" ? undefined : agent.description,
      mode: "subagent",
      model: modelFor(agent, { qualified: true }),
      temperature: agent.temperature,
      top_p: agent.topP,
      steps: agent.limits?.maxTurns,
      reasoningEffort: effortWord(agent, ["minimal", "low", "medium", "high", "xhigh"]),
      permission: permissionOf(form),
      hidden: agent.hidden,
      disable: read.disabled ? true : undefined,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};

/**
 * Permissions for opencode: denies everything except what is allowed; if everything is allowed, lists only what is
 * denied.
 */
function permissionOf({ agent, tools = [], denied }: Form): Record<string, unknown> | undefined {
  const rows: Record<string, unknown> = {};
  if (!hasAllTools(agent)) {
    rows["*"] = "deny";
    for (const word of tools) if (!denied.includes(word)) rows[word] = "allow";
  } else for (const word of denied) rows[word] = "deny";
  addRules(rows, agent);
  const task = taskOf(agent);
  if (task !== undefined) rows["task"] = task;
  return Object.keys(rows).length === 0 ? undefined : rows;
}

/**
 * Adds the agent's rules about tool calls. A single list can be written unchanged. Several lists restrict each other,
 * which the file format cannot express, so no list is written.
 */
function addRules(rows: Record<string, unknown>, { rules = [] }: Agent): void {
  const [list = [], ...others] = rules;
  if (others.length > 0) return;
  const closed = rows["*"] === "deny"; // tools without an entry stay denied, despite a rule for all tools
  const all = closed ? Object.keys(rows).filter((word) => word !== "*") : ["*"];
  const shut = new Set(Object.keys(rows).filter((word) => rows[word] === "deny"));
  for (const { tool, pattern, says } of list) {
    for (const word of tool === ALL_TOOLS ? all : spelled([tool], opencodeTools)) {
      const before = rows[word];
      if (shut.has(word) || (closed && before === undefined)) continue;
      const map = isRecord(before) ? before : before === undefined ? {} : { "*": before };
      rows[word] = pattern === undefined ? says : { ...map, [pattern]: says };
    }
  }
}

function taskOf({ spawns, disallowedTools }: Agent): unknown {
  if (spawns === undefined) return disallowedTools?.includes(DELEGATION_TOOL) ? "deny" : undefined;
  if (spawns === "*") return "allow";
  if (spawns.length === 0) return "deny";
  const answers = spawns.map((entry) => (isExclusion(entry) ? [entry.slice(1), "deny"] : [entry, "allow"]));
  return { "*": "deny", ...Object.fromEntries(answers) };
}
