import { settleConfig } from "../core/config/layers.ts";
import { crewSettings } from "../core/config/use.ts";
import { withPermissions } from "../core/policy/permissions.ts";
import { readSettings } from "../defaults.ts";
import type { CrewSetup } from "./outfit/setup.ts";
import { type LoadConfigOptions, type LoadedConfig, noConfig } from "../runtime/settings/load-config.ts";
import type { CrewOptions } from "./outfit/options.ts";

/** The settings of a crew: from files, passed in code, or none. */
export function settingsFor(given: CrewOptions["config"], where: Omit<LoadConfigOptions, "read">): LoadedConfig {
  if (given === true) return readSettings(where);
  return given === undefined ? noConfig : { ...noConfig, ...settleConfig({ user: given }) };
}

/** Options passed in code take precedence over settings; the permissions of both apply together. */
export function withSettings(given: CrewOptions, { config }: LoadedConfig): CrewOptions {
  return {
    ...crewSettings(config),
    ...given,
    permissions: withPermissions(config.permissions, given.permissions),
  };
}

/**
 * The options of a crew that can be written as JSON; options that are code, or that only the search for agents needs,
 * are left out.
 */
export function setupOf(options: CrewOptions, where: Pick<CrewSetup, "cwd" | "env">): CrewSetup {
  const { agents: _a, tools: _t, models: _m, clock: _c, random: _r, config: _s, ...written } = options;
  return { ...written, ...where };
}
