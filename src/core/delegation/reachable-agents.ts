import type { Agent } from "../agent/agent.ts";
import type { Body } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import { mayStart, type Spawns } from "../vocabulary/spawn-list.ts";
import { agentNameOf, type Roster } from "./roster.ts";
import { delegationToolsOf } from "./spawn.ts";

/**
 * The agents of a plan and all agents that they may start, directly or through other agents, by the name that selects
 * them. An agent that may start every agent reaches the whole roster.
 */
export function reachableAgents({ nodes }: Pick<Body, "nodes">, roster: Roster): ReadonlyMap<string, Agent> {
  const found = new Map<string, Agent>();
  let names: readonly string[] | undefined;
  const add = (name: string, tools?: Task["tools"]): void => {
    const agent = found.get(name) ?? roster.find(name);
    if (!agent || (found.has(name) && tools === undefined)) return;
    found.set(name, agent);
    const spawns = spawnsOf(tools ? { ...agent, tools } : agent);
    if (spawns.length === 0) return;
    names ??= selectorsOf(roster);
    for (const other of names) if (!found.has(other) && mayStart(plainName(other, roster), spawns)) add(other);
  };
  const walk = (body: Pick<Body, "nodes">): void => {
    for (const node of Object.values(body.nodes)) {
      if (node.kind === "loop") walk(node.body);
      if (node.kind === "task") add(agentNameOf(node.task, roster), node.task.tools);
    }
  };
  walk({ nodes });
  return found;
}

const spawnsOf = (agent: Agent): Spawns => (delegationToolsOf(agent).length === 0 ? [] : (agent.spawns ?? "*"));

/** The names and qualified names that select an agent of the roster. */
const selectorsOf = (roster: Roster): readonly string[] => [
  ...roster.names(),
  ...(roster.catalog?.().otherScopes ?? []).flatMap(({ called }) => called ?? []),
];

/** The name that a spawn policy refers to. */
const plainName = (name: string, roster: Roster): string =>
  name.includes(":") ? (roster.find(name)?.name ?? name) : name;
