import type { Message, ToolSpec } from "../../core/model/model.ts";
import { cutHead } from "../../core/text/cut.ts";
import { isRecord } from "../../core/text/json.ts";
import { exchanges } from "./evidence.ts";
import type { ParsedQuestion } from "./question.ts";
import type { PlannedCall } from "./steps.ts";

/** A tool that delegates to another agent, with the parameter names found in its schema. */
type Hand = Readonly<{ tool: string; who: string; what: string; short?: string; agent: string }>;

/** Parameter names of the agent and of its task in delegation tools. */
const WHO = ["subagent_type", "agent_name", "type"];
const WHAT = ["prompt", "input", "objective"];
/** Names of agents that probably can search, preferred in this order. */
const EXPLORERS = ["explore", "Explore", "codebase-investigator", "general"];

/** Maximum number of agents that the offline model asks; the last agent gets all remaining parts of the question. */
const MOST_HANDED = 3;

/**
 * One call of a delegation tool for each part of the question. Empty if there is no delegation tool, or when the agents
 * were already asked.
 */
export function handings(
  question: ParsedQuestion,
  tools: readonly ToolSpec[],
  after: readonly Message[],
): PlannedCall[] {
  const hand = handIn(tools);
  if (hand === undefined || question.wants === "review" || question.clauses.length === 0) return [];
  if ([...exchanges(after)].some(({ call }) => call.name === hand.tool)) return [];
  const parts = question.clauses.length <= MOST_HANDED ? question.clauses.map(({ text }) => text) : [question.text];
  return parts.map((part) => ({
    name: hand.tool,
    input: {
      [hand.who]: hand.agent,
      [hand.what]: part,
      ...(hand.short !== undefined && { [hand.short]: cutHead(part, 60).text }),
    },
  }));
}

/** Matches the id for continuing an agent and what follows it, which are removed from answers that are passed on. */
const ADDRESS = /\s*\[agentId: [^\]\n]*\][^]*$/;

/** The combined answers of the agents; `undefined` when no agent was asked or no agent succeeded. */
export function relayed(tools: readonly ToolSpec[], after: readonly Message[]): string | undefined {
  const hand = handIn(tools);
  const answers = hand ? [...exchanges(after)].filter(({ call }) => call.name === hand.tool) : [];
  if (!answers.some(({ answer }) => !answer.error)) return undefined;
  const parts = answers.map(({ call, answer }) => {
    const part = isRecord(call.input) && hand ? call.input[hand.what] : undefined;
    const asked = typeof part === "string" ? part : "";
    const title = answers.length > 1 ? `## ${asked}\n\n` : "";
    return `${title}${answer.error ? `The agent did not succeed: ${answer.text}` : answer.text.replace(ADDRESS, "").trim()}`;
  });
  return parts.join("\n\n");
}

/** The messages without delegations: when no agent succeeded, the model searches by itself. */
export function ownWork(tools: readonly ToolSpec[], after: readonly Message[]): readonly Message[] {
  const name = handIn(tools)?.tool;
  return after.filter((message) => {
    if (message.role === "assistant") return !message.calls.some((call) => call.name === name);
    return message.role !== "tool" || message.results.some((result) => result.name !== name);
  });
}

function handIn(tools: readonly ToolSpec[]): Hand | undefined {
  for (const { name, input } of tools) {
    const properties = isRecord(input.properties) ? input.properties : {};
    const who = WHO.find((key) => Object.hasOwn(properties, key));
    const what = WHAT.find((key) => Object.hasOwn(properties, key));
    if (who === undefined || what === undefined) continue;
    const agent = agentIn(properties[who]);
    if (agent === undefined) continue;
    return { tool: name, who, what, agent, ...(Object.hasOwn(properties, "description") && { short: "description" }) };
  }
  return undefined;
}

/** The agent to ask, chosen from the agents in the schema of the delegation tool. */
function agentIn(schema: unknown): string | undefined {
  const listed =
    isRecord(schema) && Array.isArray(schema["enum"]) ? schema["enum"].filter((one) => typeof one === "string") : [];
  return EXPLORERS.find((name) => listed.includes(name)) ?? listed[0];
}
