import { existsSync } from "node:fs";
import { childEntry } from "./crew/outfit/child-entry.ts";
import { fileURLToPath } from "node:url";
import type { Dialects } from "./core/agent/dialect.ts";
import type { Skill, WorkflowCommand } from "./core/agent/skill.ts";
import { CrewError } from "./core/schema/error.ts";
import type { Runner } from "./core/task/runner.ts";
import { readConfig } from "./formats/config.ts";
import type { SecretSource } from "./runners/a2a/a2a-secret.ts";
import { openRunner, type RunnerParts } from "./runners/table.ts";
import { type DiscoverOptions, type Discovery, discover } from "./runtime/discovery/discover.ts";
import { commandFamilies, skillFamilies } from "./runtime/discovery/workflow-sources.ts";
import { createGuardedOpen, type NetworkRules } from "./runtime/network/guarded-request.ts";
import { type LoadConfigOptions, type LoadedConfig, loadConfig } from "./runtime/settings/load-config.ts";

/** The command line of the process that works on a background run: subcrew's own command, wherever this file is. */
export function backgroundCommand(id: string): readonly [file: string, ...args: string[]] {
  const here = ["./cli/main.js", "../cli/main.js", "./main.js", "./cli/main.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const main = here.find((file) => existsSync(file));
  if (main === undefined)
    throw new CrewError(
      "WORKER_FAILED",
      "The subcrew command is missing from this installation.",
      "Reinstall subcrew.",
    );
  return [process.execPath, main, "background-run", id, "--json"];
}

/** State about remote agents that all runs of a crew share; created on first use. */
export type Remotes = RunnerParts["remotes"];

export function remoteAgents({ network, home, ...source }: RemoteSetup): Remotes {
  let made: ReturnType<Remotes> | undefined;
  const make: Remotes = async () => {
    const { createRemoteClients, remoteTokens } = await import("./runners/a2a/a2a-clients.ts");
    const tokens = home === undefined ? {} : { tokens: remoteTokens(home) };
    return {
      clients: createRemoteClients({ ...source, ...tokens }),
      open: createGuardedOpen(network, { env: source.env }),
    };
  };
  return () => (made ??= make());
}

/** Settings for remote agents. `home`: the folder in which tokens are stored, if any. */
type RemoteSetup = SecretSource & Readonly<{ network?: NetworkRules; home: string | undefined }>;

/** Runs each task with the runner of its assignment. */
export function builtinRunner(given: Omit<RunnerParts, "entry">): Runner {
  const entry = (): URL => childEntry("task-child") ?? new URL("./task-child.js", import.meta.url);
  return async (assignment, context) => (await openRunner(assignment.runner, { ...given, entry }))(assignment, context);
}

/** Finds all agents for a folder; files of a project are used as far as they are trusted. */
export async function findAgents(where: Omit<DiscoverOptions, "dialects" | "bundled">): Promise<Discovery> {
  const { bundledAgents } = await import("./formats/bundled-agents.ts");
  const dialects = async (): Promise<Dialects> => (await import("./formats/table.ts")).dialects;
  return discover({ ...where, dialects, bundled: bundledAgents });
}

/** Skills or workflow commands: the usable ones, and the complete search result, which also has the unusable ones. */
export type Workflows<T> = Readonly<{ all: readonly T[]; discovery: Discovery }>;

/** Where skills and commands are searched; settings about agents do not apply to them. */
export type WorkflowPlaces = Pick<DiscoverOptions, "cwd" | "home" | "scope" | "order" | "trust" | "cache" | "sources">;

/** Finds all skills for a folder, by the same rules as agents. */
export async function findSkills(where: WorkflowPlaces): Promise<Workflows<Skill>> {
  const { skillDialect, readBundledSkills, skillOf } = await import("./formats/skill.ts");
  const found = { dialects: { skill: skillDialect }, bundled: readBundledSkills() };
  const discovery = await discover({ sources: skillFamilies, ...where, ...found });
  return { all: discovery.agents.map(skillOf), discovery };
}

/** Finds all workflow commands for a folder, by the same rules as agents. */
export async function findCommands(where: WorkflowPlaces): Promise<Workflows<WorkflowCommand>> {
  const { commandDialect, readBundledCommands, commandOf } = await import("./formats/skill.ts");
  const found = { dialects: { command: commandDialect }, bundled: readBundledCommands() };
  const discovery = await discover({ sources: commandFamilies, ...where, ...found });
  return { all: discovery.agents.map(commandOf), discovery };
}

/** The settings of the user, of a trusted project and of the environment. */
export function readSettings(where: Omit<LoadConfigOptions, "read">): LoadedConfig {
  return loadConfig({ ...where, read: readConfig });
}
