import type { AgentAdjustments, AgentCeiling, AgentSettings } from "../agent/settings.ts";
import { isRecord } from "../text/json.ts";
import { toolsNamed } from "../vocabulary/tool-names.ts";
import { type Config, type ConfigPath, isProjects } from "./config.ts";
import { narrowConfig } from "./narrow.ts";
import { presetSettings } from "./presets.ts";

/** Source of a setting: a variable, a trusted project's file, the user's file, or a preset. */
export type ConfigLayer = "environment" | "project" | "user" | "preset";

/** The settings of each source. There is no entry for a preset, because one of these sources names the preset. */
export type ConfigLayers = Readonly<Partial<Record<Exclude<ConfigLayer, "preset">, Config>>>;

/** The effective settings, and the source of each. */
export type SettledConfig = Readonly<{
  config: Config;
  /** The settings for agents, prepared for the search for agents. */
  agents: AgentAdjustments;
  /** The source that decided a key such as `limits.maxTurns`. */
  origins: ReadonlyMap<string, ConfigLayer>;
  /** Keys in the project's settings file that a project may not set. */
  ignored: readonly ConfigPath[];
}>;

/**
 * Combines the settings of all sources. Precedence: variables, then the project (which can only restrict), then the
 * user, then the preset.
 */
export function settleConfig({ user: own = {}, project = {}, environment = {} }: ConfigLayers): SettledConfig {
  const preset = presetSettings[environment.preset ?? own.preset ?? "unified"];
  const user = over(preset, own) as Config;
  const said = leavesOf(project);
  const rights = fromLeaves(said.filter(([path]) => isProjects(path)));
  const narrowed = narrowConfig(user, rights);
  const config = over(narrowed, environment) as Config;
  const origins = new Map<string, ConfigLayer>();
  const note = (layer: ConfigLayer, from: Config, before: Config): void => {
    const earlier = new Map(leavesOf(before).map(([path, value]) => [path.join("."), JSON.stringify(value)]));
    for (const [path, value] of leavesOf(from)) {
      const key = path.join(".");
      if (earlier.get(key) !== JSON.stringify(value)) origins.set(key, layer);
    }
  };
  note("preset", preset, {});
  note("user", own, {});
  note("project", narrowed, user);
  note("environment", environment, {});
  for (const [path] of leavesOf(rights)) if (path[0] === "agents") origins.set(path.join("."), "project");
  const ignored = said.map(([path]) => path).filter((path) => !isProjects(path));
  return { config, agents: adjustmentsOf(user, rights, config), origins, ignored };
}

/** Each value of a configuration with its path. A list counts as one value. */
export function leavesOf(config: object, above: ConfigPath = []): [path: ConfigPath, value: unknown][] {
  return Object.entries(config).flatMap(([key, value]): [ConfigPath, unknown][] => {
    const path = [...above, key];
    if (value === undefined) return [];
    return isRecord(value) ? leavesOf(value, path) : [[path, value]];
  });
}

/** Builds a configuration from values with their paths. */
export function fromLeaves(leaves: readonly (readonly [path: ConfigPath, value: unknown])[]): Config {
  return leaves.reduce<Config>((config, [path, value]) => {
    const single = path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
    return over(config, single) as Config;
  }, {});
}

/** Merges two values. Where both set the same key, the second value applies. */
function over(ours: unknown, theirs: unknown): unknown {
  if (!isRecord(ours) || !isRecord(theirs)) return theirs;
  const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const value = (key: string): unknown => (Object.hasOwn(theirs, key) ? over(ours[key], theirs[key]) : ours[key]);
  return Object.fromEntries(keys.map((key) => [key, value(key)]));
}

type SaidOfAgent = NonNullable<Config["agents"]>[string];

/** The settings for agents; the settings of a project can only restrict them. */
function adjustmentsOf(user: Config, project: Config, { defaults, limits }: Config): AgentAdjustments {
  const theirs = Object.entries(project.agents ?? {});
  const off = [
    ...(project.disabled ?? []),
    ...theirs.flatMap(([name, { enabled }]) => (enabled === false ? [name] : [])),
  ];
  const settings = new Map(Object.entries(user.agents ?? {}).map(([name, said]) => [name, settingsOf(said)]));
  for (const name of off) settings.set(name, { ...settings.get(name), enabled: false });
  const ceilings = theirs.map(([name, said]) => ({ key: `agents.${name}`, agent: name, ceiling: ceilingOf(said) }));
  return {
    ...(defaults === undefined ? {} : { defaults: defined(defaults) }),
    ...(settings.size === 0 ? {} : { settings: Object.fromEntries(settings) }),
    ceilings: [...(limits === undefined ? [] : [{ key: "", ceiling: { limits } }]), ...ceilings],
  };
}

/**
 * The settings of an agent, with the canonical names of its tools. Settings may use the tool names of any file format.
 */
function settingsOf({ tools, disallowedTools, ...rest }: SaidOfAgent): AgentSettings {
  return {
    ...defined(rest),
    ...(tools === undefined ? {} : { tools: canonical(tools) }),
    ...(disallowedTools === undefined ? {} : { disallowedTools: canonical(disallowedTools) }),
  };
}

function ceilingOf(said: SaidOfAgent): AgentCeiling {
  const { tools, disallowedTools, limits } = settingsOf(said);
  return defined({ tools, disallowedTools, limits });
}

const canonical = (written: readonly string[]): readonly string[] =>
  written.flatMap((name) => (toolsNamed(name).length > 0 ? toolsNamed(name) : [name]));

/** Removes keys whose value is `undefined`. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
