import type { Agent } from "./core/agent.ts";
import type { Engine } from "./core/engine.ts";
import type { Model } from "./core/model.ts";
import type { Runner } from "./core/runner.ts";
import type { Tool } from "./core/tool.ts";
import { localEngine, type LocalParts } from "./engines/local.ts";
import { readBundledAgents } from "./formats/bundled.ts";
import { local } from "./runners/local.ts";
import { builtinTools as toolRows } from "./tools/table.ts";

/** The models that need no key; rows are imported when they are asked for. */
export const builtinModels: Readonly<Record<string, () => Promise<Model>>> = {
  offline: async () => (await import("./models/offline.ts")).offline,
};

export const builtinRunner: Runner = local;
export const makeEngine = (parts: LocalParts): Engine => localEngine(parts);

/** Every built-in tool. */
export async function builtinTools(): Promise<readonly Tool[]> {
  return Promise.all(Object.values(toolRows).map((load) => load()));
}

/** The agents of a person and a project, and who of them may run. */
export type FoundAgents = Readonly<{
  agents: readonly Agent[];
  /** Names of the project's agents that may not run because the project is not trusted. */
  untrusted: readonly string[];
  find(name: string): Agent | undefined;
}>;

export async function findAgents(_where: { cwd: string; home: string; trusted: boolean; discover: boolean }): Promise<FoundAgents> {
  const agents = readBundledAgents().map(({ agent }) => agent);
  return { agents, untrusted: [], find: (name) => agents.find((agent) => agent.name === name) };
}
