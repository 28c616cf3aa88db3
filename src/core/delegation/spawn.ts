import type { Agent } from "../agent/agent.ts";
import type { Body } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import type { JsonSchema } from "../text/json.ts";
import { facadeOf } from "../vocabulary/delegation-names.ts";
import { ALL_TOOLS, DELEGATION_TOOL } from "../vocabulary/tool-names.ts";
import type { Catalog } from "./catalog.ts";

/** Which agents somebody may start: any, or those of a list. */
export type Spawns = "*" | readonly string[];

/** Who wants to start agents, and what holds for it. */
export type Caller = Readonly<{
  /** The name of the agent that calls; what a surface calls itself where no agent does. */
  agent: string;
  spawns: Spawns;
  /** How many agents stand above it, and how many may; negative: as many as like. */
  depth: number;
  maxDepth: number;
  /** The agent that must not be started, so that it does not start itself. */
  blocked?: string;
  /** The shape of its own result, which those it starts take over when nobody says anything else. */
  schema?: JsonSchema;
  /** The agents there were when it was asked. */
  catalog: Catalog;
}>;

/** Whom an agent may start: its own list, and the one agent that nobody may start again. */
export type SpawnPolicy = Pick<Caller, "spawns" | "blocked">;

/** The part of the spawn policy that refuses an agent by its name. */
export function nameRefusal(name: string, { spawns, blocked }: SpawnPolicy): "blocked" | "spawns" | undefined {
  if (blocked === name) return "blocked";
  return spawns === "*" || spawns.includes(name) ? undefined : "spawns";
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

/** The agents that may be started, in the words of a refusal. */
export function allowedText(spawns: Spawns): string {
  if (spawns === "*") return "*";
  return spawns.length === 0 ? "none (spawns disabled for this agent)" : spawns.join(",");
}

/** The agent that takes a task which names none: the first that the caller may start, or the general worker. */
export const defaultAgent = (spawns: Spawns): string => (spawns === "*" ? undefined : spawns[0]) ?? "task";

/**
 * The delegation tools of an agent, as it spells them: when it lists one, or may use everything and says whom it may start.
 * A `*` among the tools alone never means delegation.
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

/** True at the depth below which nobody starts anything. */
export const atMaxDepth = ({ depth, maxDepth }: Pick<Caller, "depth" | "maxDepth">): boolean =>
  maxDepth >= 0 && depth >= maxDepth;

/** Why an agent cannot be started; `undefined` when it can. The order of the checks is part of what is promised. */
export type SpawnRefusal = "unknown" | "disabled" | "blocked" | "spawns" | "depth";

/** Judges one name against what there is right now. */
export function spawnRefusal(name: string, caller: Caller, now: Catalog): SpawnRefusal | undefined {
  if (!now.agents.some((card) => card.name === name)) return now.disabled.includes(name) ? "disabled" : "unknown";
  return nameRefusal(name, caller) ?? (atMaxDepth(caller) ? "depth" : undefined);
}

/** The catalog as far as somebody may start what is in it, without what is not offered. */
export function offered({ agents }: Catalog, policy: SpawnPolicy): Catalog["agents"] {
  return agents.filter(({ name, hidden }) => !hidden && nameRefusal(name, policy) === undefined);
}
