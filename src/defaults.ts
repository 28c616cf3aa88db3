import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Engine } from "./core/engine.ts";
import { CrewError } from "./core/error.ts";
import type { Model } from "./core/model.ts";
import type { Runner } from "./core/runner.ts";
import type { Tool } from "./core/tool.ts";
import { localEngine, type LocalParts } from "./engines/local.ts";
import type { Skill, WorkflowCommand } from "./core/skill.ts";
import { readBundledAgents } from "./formats/bundled.ts";
import { readConfig } from "./formats/config.ts";
import {
  commandDialect,
  commandOf,
  readBundledCommands,
  readBundledSkills,
  skillDialect,
  skillOf,
} from "./formats/skill.ts";
import { dialects } from "./formats/table.ts";
import { local } from "./runners/local.ts";
import { discover, type DiscoverOptions, type Discovery } from "./runtime/discover.ts";
import { loadConfig, type LoadConfigOptions, type LoadedConfig } from "./runtime/load-config.ts";
import { commandFamilies, skillFamilies } from "./runtime/workflow-sources.ts";
import type { ToolParts } from "./tools/parts.ts";
import { builtinTools as toolRows } from "./tools/table.ts";

/** The models that need no key, imported when they are asked for. A row that ends in a colon takes the rest of the name. */
export function builtinModels(cwd: string): Readonly<Record<string, (rest: string) => Promise<Model>>> {
  let scripts: Promise<(file: string) => Promise<Model>> | undefined;
  return {
    offline: async () => (await import("./models/offline.ts")).offline,
    "scripted:": async (file) => {
      scripts ??= import("./models/scripted-file.ts").then(({ createScriptReader }) => createScriptReader(cwd));
      return (await scripts)(file);
    },
  };
}

/** The command line of the worker that works on a run in the background: our own command, wherever this file is. */
export function workerCommand(id: string): readonly [file: string, ...args: string[]] {
  const here = ["./cli/main.js", "./main.js", "./cli/main.ts"].map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const main = here.find((file) => existsSync(file));
  if (main === undefined) throw new CrewError("WORKER_FAILED", "The command of subcrew is not beside its library.", "Install it again.");
  return [process.execPath, main, "worker", id, "--json"];
}

export const builtinRunner: Runner = local;
export const makeEngine = (parts: LocalParts): Engine => localEngine(parts);

/** Every built-in tool. */
export async function builtinTools(parts: ToolParts): Promise<readonly Tool[]> {
  return Promise.all(Object.values(toolRows).map((load) => load(parts)));
}

/** Finds every agent there is for a folder; the files of a project count as far as they are trusted. */
export function findAgents(where: Omit<DiscoverOptions, "dialects" | "bundled">): Promise<Discovery> {
  return discover({ ...where, dialects, bundled: readBundledAgents() });
}

/** Skills, or workflow commands: those that there are, and everything that was found on the way. */
export type Workflows<T> = Readonly<{ all: readonly T[]; discovery: Discovery }>;

/** Where skills and commands are looked for; settings about agents do not concern them. */
export type WorkflowPlaces = Pick<DiscoverOptions, "cwd" | "home" | "scope" | "order" | "trust" | "cache" | "sources">;

/** Finds every skill there is for a folder, by the same rules as agents. */
export async function findSkills(where: WorkflowPlaces): Promise<Workflows<Skill>> {
  const found = { dialects: { skill: skillDialect }, bundled: readBundledSkills() };
  const discovery = await discover({ sources: skillFamilies, ...where, ...found });
  return { all: discovery.agents.map(skillOf), discovery };
}

/** Finds every workflow command there is for a folder, by the same rules as agents. */
export async function findCommands(where: WorkflowPlaces): Promise<Workflows<WorkflowCommand>> {
  const found = { dialects: { command: commandDialect }, bundled: readBundledCommands() };
  const discovery = await discover({ sources: commandFamilies, ...where, ...found });
  return { all: discovery.agents.map(commandOf), discovery };
}

/** The settings of the user, of a trusted project and of the environment. */
export function readSettings(where: Omit<LoadConfigOptions, "read">): LoadedConfig {
  return loadConfig({ ...where, read: readConfig });
}
