import type { Agent } from "../../core/agent.ts";
import { DELEGATION_TOOL } from "../../core/tool-names.ts";
import { frontmatter } from "./markdown.ts";
import { effortWord, modelFor } from "./model-words.ts";
import { opencodeTools } from "./spelling.ts";
import { type Form, formOf, hasAllTools, said, type Writer } from "./writer.ts";

/** opencode's Markdown, also Kilo's. The path is the name. */
export const opencodeWriter: Writer = {
  folder: ".opencode/agent",
  file: (name) => `${name.replaceAll(":", "/")}.md`,
  carries: "color variant options".split(" "),
  notes: { tools: "opencode has one permission for everything that changes files" },
  write: (read, extra) => {
    const form = formOf(read, opencodeTools, { denies: true });
    const { agent } = form;
    const keys = {
      description: agent.description === "" ? undefined : agent.description,
      mode: "subagent",
      model: modelFor(agent, {}),
      temperature: agent.temperature,
      top_p: agent.topP,
      steps: agent.limits?.maxTurns,
      reasoningEffort: effortWord(agent, ["minimal", "low", "medium", "high", "xhigh"]),
      permission: permissionOf(form),
      hidden: agent.hidden,
      disable: read.disabled ? true : undefined,
    };
    return frontmatter(said({ ...keys, ...extra }), agent.instructions);
  },
};

/** Everything but what is allowed is denied; where everything is allowed, only what is denied is named. */
function permissionOf({ agent, tools = [], denied }: Form): Record<string, unknown> | undefined {
  const rows: Record<string, unknown> = {};
  if (!hasAllTools(agent)) {
    rows["*"] = "deny";
    for (const word of tools) if (!denied.includes(word)) rows[word] = "allow";
  } else for (const word of denied) rows[word] = "deny";
  const task = taskOf(agent);
  if (task !== undefined) rows["task"] = task;
  return Object.keys(rows).length === 0 ? undefined : rows;
}

function taskOf({ spawns, disallowedTools }: Agent): unknown {
  if (spawns === undefined) return disallowedTools?.includes(DELEGATION_TOOL) ? "deny" : undefined;
  if (spawns === "*") return "allow";
  if (spawns.length === 0) return "deny";
  return { "*": "deny", ...Object.fromEntries(spawns.map((name) => [name, "allow"])) };
}
