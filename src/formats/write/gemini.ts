import { DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import { frontmatter } from "./markdown.ts";
import { type ModelWords, modelFor } from "./model-words.ts";
import { geminiTools } from "./spelling.ts";
import { described, formOf, type Writer, writtenKeys } from "./writer.ts";

const models: ModelWords = {
  words: {
    inherit: "inherit",
    auto: "auto",
    fast: "flash",
    balanced: "auto",
    powerful: "pro",
    flash: "flash",
    "flash-lite": "flash-lite",
    pro: "pro",
  },
  bare: ["google"],
  knows: /^(?:gemini|gemma)/i,
};

/** The agent's name in the form that Gemini CLI accepts. */
const slug = (name: string): string => name.toLowerCase().replace(/[^a-z0-9-_]+/g, "-");

/** Writes Gemini CLI's Markdown files, for local and for remote agents. */
export const geminiWriter: Writer = {
  folder: ".gemini/agents",
  file: (name) => `${slug(name)}.md`,
  carries: ["mcp_servers"],
  notes: {
    name: "Gemini CLI allows only lower-case letters, digits, dashes and underscores",
    spawns: "agents of Gemini CLI cannot start others",
    completion: "agents of Gemini CLI return their result with a tool",
    disallowedTools:
      "Gemini CLI has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, geminiTools);
    const { remote, limits } = agent;
    const named = { name: slug(agent.name), description: described(agent), display_name: agent.displayName };
    if (remote !== undefined) {
      const card = { agent_card_url: remote.cardUrl, agent_card_json: remote.cardJson, auth: remote.auth };
      return frontmatter(writtenKeys({ kind: "remote", ...named, ...card, ...extra }), "");
    }
    const keys = {
      kind: "local",
      ...named,
      tools: tools?.filter((tool) => tool !== DELEGATION_TOOL),
      model: modelFor(agent, models),
      temperature: agent.temperature,
      max_turns: limits?.maxTurns,
      timeout_mins: limits?.maxDurationMs === undefined ? undefined : limits.maxDurationMs / 60_000,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
