import type { Agent } from "../../core/agent/agent.ts";
import { delegationToolsOf, nameRefusal } from "../../core/delegation/spawn.ts";
import { leadOf, permit } from "../../core/policy/permit.ts";
import {
  DELEGATION_TOOL,
  FILE_CHANGING_TOOLS,
  READ_ONLY_TOOLS,
  toolMatches,
} from "../../core/vocabulary/tool-names.ts";

/** An agent that another agent can start, directly or indirectly, and the tools it adds. */
export type ReachedAgent = Readonly<{
  name: string;
  /** The agent that starts this one. */
  through: string;
  /** Tools of this agent that the explained agent may not use itself. */
  adds: readonly string[];
}>;

/**
 * The restrictions that an agent gets from its parent agents: the tools that they deny, and whether a parent is in plan
 * mode or may not change files.
 */
type Above = Readonly<{ denied: readonly string[]; plans: boolean; sandboxed: boolean }>;

/**
 * The agents that an agent can start, directly or indirectly, nearest first. If subagents are limited to their parent's
 * tools (`ceiling`), they add no tools, and denials of an agent also apply to its subagents.
 */
export function reachOf(first: Agent, agents: readonly Agent[], tools: readonly string[]): readonly ReachedAgent[] {
  const reached = new Map<string, ReachedAgent>();
  const own = new Set(usableBy(first, tools));
  let level: readonly (readonly [Agent, Above])[] = [[first, { denied: [], plans: false, sandboxed: false }]];
  while (level.length > 0) {
    const next: [Agent, Above][] = [];
    for (const [parent, above] of level) {
      const bounds = boundsBelow(parent, above);
      for (const agent of startedBy(parent, agents)) {
        if (agent.name === first.name) continue;
        const usable = usableBy(agent, tools).filter((tool) => !own.has(tool) && !isBounded(tool, bounds));
        const adds = parent.delegationRule === "ceiling" ? [] : usable;
        const known = reached.get(agent.name)?.adds;
        if (known !== undefined && adds.every((tool) => known.includes(tool))) continue;
        const all = [...new Set([...(known ?? []), ...adds])]; // another path to the agent may add more tools
        reached.set(agent.name, {
          name: agent.name,
          through: reached.get(agent.name)?.through ?? parent.name,
          adds: all,
        });
        next.push([agent, bounds]);
      }
    }
    level = next;
  }
  return [...reached.values()];
}

const boundsBelow = ({ disallowedTools = [], permission, sandbox }: Agent, above: Above): Above => ({
  denied: [...above.denied, ...disallowedTools.filter((entry) => !entry.includes("("))],
  plans: above.plans || permission === "plan",
  sandboxed: above.sandboxed || sandbox === "read-only",
});

const isBounded = (tool: string, { denied, plans, sandboxed }: Above): boolean =>
  denied.some((pattern) => toolMatches(pattern, leadOf(tool) ?? tool)) ||
  (plans && !READ_ONLY_TOOLS.includes(tool)) ||
  (sandboxed && FILE_CHANGING_TOOLS.includes(tool));

const usableBy = (agent: Agent, tools: readonly string[]): string[] =>
  tools.filter((tool) => tool !== DELEGATION_TOOL && permit(agent, tool).allowed && !isDeniedByMode(agent, tool));

/** True for a tool that the permission mode `plan` denies: a tool that the agent does not list by name. */
const isDeniedByMode = ({ permission, tools }: Agent, tool: string): boolean =>
  permission === "plan" && tools?.includes(tool) !== true;

function startedBy(agent: Agent, agents: readonly Agent[]): readonly Agent[] {
  if (delegationToolsOf(agent).length === 0) return [];
  const { spawns = "*" } = agent;
  return agents.filter(({ name }) => nameRefusal(name, { spawns }) === undefined);
}
