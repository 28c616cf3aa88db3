import type { Agent } from "../agent/agent.ts";
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

/** The agent that is meant when somebody may start any and names none. */
export const DEFAULT_SPAWN = "task";

/** What a written policy allows: `*`, a list with commas, a list, yes or no. */
export function resolveSpawns(written: unknown): Readonly<{
  enabled: boolean;
  defaultAgent: string;
  allowedAgents: readonly string[] | null;
  allowedErrorText: string;
}> {
  const names = listed(written);
  if (names.includes("*"))
    return { enabled: true, defaultAgent: DEFAULT_SPAWN, allowedAgents: null, allowedErrorText: "*" };
  return {
    enabled: names.length > 0,
    defaultAgent: names[0] ?? DEFAULT_SPAWN,
    allowedAgents: names,
    allowedErrorText: allowedText(names),
  };
}

/** The agents that may be started, in the words of a refusal. */
export function allowedText(spawns: Spawns): string {
  if (spawns === "*") return "*";
  return spawns.length === 0 ? "none (spawns disabled for this agent)" : spawns.join(",");
}

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
  if (caller.blocked === name) return "blocked";
  if (caller.spawns !== "*" && !caller.spawns.includes(name)) return "spawns";
  return atMaxDepth(caller) ? "depth" : undefined;
}

/** The catalog as far as somebody may start what is in it, without what is not offered. */
export function offered(
  { agents }: Catalog,
  { spawns, blocked }: Pick<Caller, "spawns" | "blocked">,
): Catalog["agents"] {
  return agents.filter(({ name, hidden }) => !hidden && name !== blocked && (spawns === "*" || spawns.includes(name)));
}

function listed(written: unknown): string[] {
  if (written === true) return ["*"];
  const parts = typeof written === "string" ? written.split(",") : Array.isArray(written) ? written.map(String) : [];
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
