import { DEFAULT_LIMITS, type ResourceLimits } from "../vocabulary/limits.ts";
import type { FieldOrigin, Origins } from "../vocabulary/provenance.ts";
import { DELEGATION_TOOL, toolMatches } from "../vocabulary/tool-names.ts";
import type { Agent } from "./agent.ts";

/** The user's settings for one agent. */
export type AgentSettings = Readonly<
  Partial<
    Pick<
      Agent,
      | "model"
      | "thinking"
      | "limits"
      | "tools"
      | "disallowedTools"
      | "temperature"
      | "topP"
      | "cacheMs"
      | "projectInstructions"
    >
  > & {
    enabled?: boolean;
  }
>;

/** Upper bounds that the settings set for agents, whatever an agent's file says. */
export type AgentCeiling = Readonly<Partial<Pick<Agent, "tools" | "disallowedTools" | "limits">>>;

/** Everything that the settings say about agents. */
export type AgentAdjustments = Readonly<{
  /** Defaults for fields that an agent does not set. */
  defaults?: Readonly<Partial<Pick<Agent, "thinking" | "limits">>>;
  /** Settings that override the settings in an agent's file, by agent name. */
  settings?: Readonly<Record<string, AgentSettings>>;
  /**
   * Restrictions applied last: to every agent, and to the agent with a certain name. `key` is the setting that states
   * the restriction.
   */
  ceilings?: readonly Readonly<{ key: string; agent?: string; ceiling: AgentCeiling }>[];
}>;

const REPLACED = ["model", "thinking", "tools", "temperature", "topP", "cacheMs", "projectInstructions"] as const;

/**
 * Applies the settings to an agent, and returns the fields they decided. Limits are listed one by one:
 * `limits.maxTurns`.
 */
export function applySettings(
  agent: Agent,
  { defaults, settings, ceilings = [] }: AgentAdjustments,
): { agent: Agent; origins: Origins } {
  const own = settings !== undefined && Object.hasOwn(settings, agent.name) ? settings[agent.name] : undefined;
  if (defaults === undefined && own === undefined && ceilings.length === 0) return { agent, origins: {} };
  const made: Making = { agent: { ...agent }, origins: {} };
  applyDefaults(made, defaults);
  if (own !== undefined) applyOwn(made, own, `agents.${agent.name}`);
  for (const { key, agent: whose, ceiling } of ceilings) {
    if (whose === undefined || whose === agent.name) applyCeiling(made, ceiling, key);
  }
  if (Object.keys(made.origins).length === 0) return { agent, origins: {} };
  return { agent: Object.freeze(made.agent), origins: made.origins };
}

type Making = { agent: { -readonly [K in keyof Agent]: Agent[K] }; readonly origins: Record<string, FieldOrigin> };

const said = (key: string): FieldOrigin => ({ from: "settings", key });

function applyDefaults(made: Making, defaults: AgentAdjustments["defaults"]): void {
  if (defaults?.thinking !== undefined && made.agent.thinking === undefined) {
    made.agent.thinking = defaults.thinking;
    made.origins["thinking"] = said("defaults.thinking");
  }
  setLimits(made, defaults?.limits, {
    key: "defaults.limits",
    value: (theirs, ours) => (ours === undefined ? theirs : undefined),
  });
}

function applyOwn(made: Making, settings: AgentSettings, key: string): void {
  for (const field of REPLACED) {
    if (settings[field] === undefined) continue;
    Object.assign(made.agent, { [field]: settings[field] });
    made.origins[field] = said(`${key}.${field}`);
  }
  if (settings.model !== undefined) made.agent.modelRequired = true;
  takeAway(made, settings.disallowedTools, key);
  setLimits(made, settings.limits, { key: `${key}.limits`, value: (theirs) => theirs });
}

function applyCeiling(made: Making, { tools, disallowedTools, limits }: AgentCeiling, key: string): void {
  if (tools !== undefined) {
    const common = commonTools(made.agent.tools, tools);
    if (common.join() !== made.agent.tools?.join()) made.origins["tools"] = said(`${key}.tools`);
    made.agent.tools = common;
  }
  takeAway(made, disallowedTools, key);
  setLimits(made, limits, {
    key: key === "" ? "limits" : `${key}.limits`,
    value: (theirs, ours, fallback) => (isNarrower(theirs, ours ?? fallback) ? theirs : undefined),
  });
}

function takeAway(made: Making, tools: readonly string[] | undefined, key: string): void {
  const denied = (tools ?? []).filter((tool) => !made.agent.disallowedTools?.includes(tool));
  if (denied.length === 0) return;
  made.agent.disallowedTools = [...(made.agent.disallowedTools ?? []), ...denied];
  made.origins["disallowedTools"] = said(`${key}.disallowedTools`);
}

/** True if the first limit is stricter than the second; `enforceLimits: true` is stricter than false. */
const isNarrower = (theirs: Limit, ours: Limit): boolean =>
  typeof theirs === "number" && typeof ours === "number" ? theirs < ours : theirs === true && ours === false;

/** The tools that are in both lists. `undefined` means every tool except delegation. */
export function commonTools(ours: readonly string[] | undefined, theirs: readonly string[]): readonly string[] {
  if (ours === undefined) return theirs.filter((tool) => tool !== DELEGATION_TOOL);
  const covered = (list: readonly string[], by: readonly string[]): readonly string[] =>
    list.filter((tool) => by.some((pattern) => toolMatches(pattern, tool)));
  return [...new Set([...covered(ours, theirs), ...covered(theirs, ours)])];
}

type Limit = number | boolean;
type LimitRule = {
  readonly key: string;
  /**
   * Computes the narrowed value of a limit; `undefined`: no change. `theirs` is the bound, `ours` the current value.
   */
  readonly value: (theirs: Limit, ours: Limit | undefined, fallback: Limit) => Limit | undefined;
};

function setLimits(made: Making, limits: ResourceLimits | undefined, { key, value }: LimitRule): void {
  for (const [name, theirs] of Object.entries(limits ?? {}) as [keyof ResourceLimits, Limit | undefined][]) {
    if (theirs === undefined) continue;
    const ours = made.agent.limits?.[name];
    const wanted = value(theirs, ours, DEFAULT_LIMITS[name]);
    if (wanted === undefined || wanted === ours) continue;
    made.agent.limits = { ...made.agent.limits, [name]: wanted };
    made.origins[`limits.${name}`] = said(`${key}.${name}`);
  }
}
