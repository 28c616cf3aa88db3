import type { Agent } from "../../core/agent/agent.ts";
import { delegationToolsOf } from "../../core/delegation/spawn.ts";
import { permit } from "../../core/policy/permit.ts";
import { DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";

/** An agent that another one can start, itself or through others, and the tools it adds. */
export type ReachedAgent = Readonly<{
  name: string;
  /** The agent that starts it. */
  through: string;
  /** Its tools that the first agent may not use. */
  adds: readonly string[];
}>;

/** The agents that an agent can reach by starting them, nearest first. With a ceiling none of them adds a tool. */
export function reachOf(first: Agent, agents: readonly Agent[], tools: readonly string[]): readonly ReachedAgent[] {
  const reached = new Map<string, ReachedAgent>();
  const own = new Set(usableBy(first, tools));
  let level: readonly Agent[] = [first];
  while (level.length > 0) {
    const next: Agent[] = [];
    for (const parent of level) {
      for (const agent of startedBy(parent, agents)) {
        if (agent.name === first.name || reached.has(agent.name)) continue;
        const adds = parent.delegationRule === "ceiling" ? [] : usableBy(agent, tools).filter((tool) => !own.has(tool));
        reached.set(agent.name, { name: agent.name, through: parent.name, adds });
        next.push(agent);
      }
    }
    level = next;
  }
  return [...reached.values()];
}

const usableBy = (agent: Agent, tools: readonly string[]): string[] =>
  tools.filter((tool) => tool !== DELEGATION_TOOL && permit(agent, tool).allowed && !isDeniedByMode(agent, tool));

/** An agent that only plans changes nothing, whatever it lists. */
const isDeniedByMode = ({ permission, tools }: Agent, tool: string): boolean =>
  permission === "plan" && tools?.includes(tool) !== true;

function startedBy(agent: Agent, agents: readonly Agent[]): readonly Agent[] {
  if (delegationToolsOf(agent).length === 0) return [];
  const { spawns = "*" } = agent;
  return spawns === "*" ? agents : agents.filter(({ name }) => spawns.includes(name));
}
