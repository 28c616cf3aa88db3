import type { Agent } from "../agent/agent.ts";
import type { Body } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import type { JsonSchema } from "../text/json.ts";
import { facadeOf } from "../vocabulary/delegation-names.ts";
import { mayStart, namesOnly, type Spawns } from "../vocabulary/spawn-list.ts";
import { ALL_TOOLS, DELEGATION_TOOL } from "../vocabulary/tool-names.ts";
import type { Catalog } from "./catalog.ts";
import { DEFAULT_AGENT } from "./roster.ts";

/** The agent or interface that wants to start agents, and its limits. */
export type Caller = Readonly<{
  /** Name of the calling agent, or of the interface (such as the MCP server) that calls. */
  agent: string;
  spawns: Spawns;
  /** The delegation depth of the agent and the maximum; negative: unlimited. */
  depth: number;
  maxDepth: number;
  /** The agent that must not be started, to prevent recursion. */
  blocked?: string;
  /**
   * The caller's own output schema. It is used for the agents that the caller starts, unless another schema is given.
   */
  schema?: JsonSchema;
  /** The agents that are available to the caller. */
  catalog: Catalog;
  /** True: no message reaches the caller later, so a call waits for the result. */
  waits?: true;
}>;

/** The spawn policy of an agent: its `spawns` list, and the agent that must not be started again. */
export type SpawnPolicy = Pick<Caller, "spawns" | "blocked">;

/** The part of the spawn policy that refuses an agent with this name; `undefined`: the policy allows the agent. */
export function nameRefusal(name: string, { spawns, blocked }: SpawnPolicy): "blocked" | "spawns" | undefined {
  if (blocked === name) return "blocked";
  return mayStart(name, spawns) ? undefined : "spawns";
}

/** The first agent in a plan, its loops included, that the policy refuses. `nameOf` names the agent of a task. */
export function refusedInPlan(
  { nodes }: Pick<Body, "nodes">,
  policy: SpawnPolicy,
  nameOf: (task: Task) => string,
): Readonly<{ agent: string; why: "blocked" | "spawns" }> | undefined {
  for (const node of Object.values(nodes)) {
    if (node.kind === "loop") {
      const inner = refusedInPlan(node.body, policy, nameOf);
      if (inner) return inner;
    }
    if (node.kind !== "task") continue;
    const agent = nameOf(node.task);
    const why = nameRefusal(agent, policy);
    if (why) return { agent, why };
  }
  return undefined;
}

/** The allowed agents as text for a refusal. */
export function allowedText(spawns: Spawns): string {
  if (spawns === "*") return "*";
  return spawns.length === 0 ? "none (spawns disabled for this agent)" : spawns.join(",");
}

/**
 * The agent of a task that names no agent: the first agent that the caller's `spawns` names, else `task` where
 * that agent is listed, else `general`.
 */
export function defaultAgent({ spawns, catalog: { agents } }: Pick<Caller, "spawns" | "catalog">): string {
  const [first] = spawns === "*" ? [] : namesOnly(spawns);
  return first ?? (agents.some(({ name, hidden }) => name === "task" && !hidden) ? "task" : DEFAULT_AGENT);
}

/**
 * The delegation tools of an agent. It has some if its tool list names one, or if it may use every tool and has
 * `spawns`. A `*` in its tool list alone does not include delegation.
 */
export function delegationToolsOf({
  tools,
  spawns,
  delegation,
}: Pick<Agent, "tools" | "spawns" | "delegation">): readonly string[] {
  const listed = (tools ?? []).filter((tool) => tool === DELEGATION_TOOL || facadeOf(tool) !== undefined);
  const unlimited = tools === undefined || tools.includes(ALL_TOOLS);
  if (listed.length === 0 && !(unlimited && spawns !== undefined && spawns.length > 0)) return [];
  return delegation ?? (listed.length > 0 ? listed : [DELEGATION_TOOL]);
}

/** True at the maximum delegation depth. */
export const atMaxDepth = ({ depth, maxDepth }: Pick<Caller, "depth" | "maxDepth">): boolean =>
  maxDepth >= 0 && depth >= maxDepth;

/** Why an agent cannot be started; `undefined` when it can. The order of the checks is part of the contract. */
export type SpawnRefusal = "unknown" | "disabled" | "blocked" | "spawns" | "depth";

/** Checks one agent name against the current catalog. */
export function spawnRefusal(name: string, caller: Caller, now: Catalog): SpawnRefusal | undefined {
  if (!now.agents.some((card) => card.name === name)) return now.disabled.includes(name) ? "disabled" : "unknown";
  return nameRefusal(name, caller) ?? (atMaxDepth(caller) ? "depth" : undefined);
}

/** The catalog limited to agents that the caller may start: those that are listed, and those that its `spawns` names. */
export function offered({ agents }: Catalog, policy: SpawnPolicy): Catalog["agents"] {
  const named = new Set(policy.spawns === "*" ? [] : namesOnly(policy.spawns));
  return agents.filter(({ name, hidden }) => (!hidden || named.has(name)) && nameRefusal(name, policy) === undefined);
}
