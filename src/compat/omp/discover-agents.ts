import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { unionOfTools } from "../../core/agent/inherit.ts";
import type { SourceScope } from "../../core/agent/source-scope.ts";
import { bundledAgents } from "../../formats/bundled-agents.ts";
import { ownDialect } from "../../formats/dialects/own.ts";
import { dialects } from "../../formats/table.ts";
import { type DiscoverOptions, type Discovery, discover, type FoundAgent } from "../../runtime/discovery/discover.ts";
import { listAgentFiles, readAgentFile } from "../../runtime/discovery/files.ts";
import { nearestPlace } from "../../runtime/discovery/places.ts";
import { agentFamilies } from "../../runtime/discovery/sources.ts";
import { type AgentConfig, configOf, type WithInherited } from "./agent-config.ts";

/** All options of `discover`, with subcrew's file formats and bundled agents as defaults. */
export type DiscoverAgentsOptions = Partial<Omit<DiscoverOptions, "cwd" | "dialects">>;

/** The agents in their documented format, and the complete result of the search. */
export type AgentDiscoveryResult = Omit<Discovery, "agents"> & {
  readonly agents: WithInherited<AgentConfig>[];
  /** The nearest directory of the project that contains agents. */
  readonly projectAgentsDir: string | null;
};

/**
 * Finds all agents for `cwd`. The second argument is a home directory (oh-my-pi), a scope (pi-parallel-agents) or
 * options.
 * A program that names a directory is expected to trust it, so project files are used unless `trust` says otherwise;
 * the command line and `createCrew` pass the user's decisions. No code of a found file is run.
 */
export async function discoverAgents(
  cwd: string,
  where: string | DiscoverAgentsOptions = {},
): Promise<AgentDiscoveryResult> {
  const options = typeof where === "string" ? (isScope(where) ? { scope: where } : { home: where }) : where;
  const found = await discover({
    trust: { project: () => true },
    bundled: loadBundledAgents(),
    home: homedir(),
    ...options,
    cwd: resolve(cwd),
    dialects,
  });
  // With the scope "user" no place of the project is searched; the directory is named all the same.
  const projectAgentsDir =
    options.scope === "user"
      ? findNearestProjectAgentsDir(cwd)
      : (found.sources.find(({ scope }) => scope === "project")?.path ?? null);
  return { ...found, agents: found.agents.map(resolvedConfig), projectAgentsDir };
}

const isScope = (word: string): word is SourceScope => word === "user" || word === "project" || word === "both";

function resolvedConfig(found: FoundAgent): WithInherited<AgentConfig> {
  const config: WithInherited<AgentConfig> = configOf(found);
  const { model, thinking } = found.agent;
  const base = found.base === undefined ? undefined : resolvedConfig(found.base);
  const tools = unionOfTools(config.tools, base?.resolvedTools);
  if (tools !== undefined) config.resolvedTools = tools;
  if (model !== undefined) config.resolvedModel = model;
  if (thinking !== undefined) config.resolvedThinking = thinking;
  return config;
}

/** The agents of one directory; its path decides the file format. A missing directory is empty. */
export function loadAgentsFromDir(dir: string, source: "user" | "project" = "user"): AgentConfig[] {
  const path = resolve(dir);
  const row = agentFamilies
    .flat()
    .find(({ project, user }) => [...project, ...user].some((place) => path.endsWith(`/${place}`)));
  const dialect = dialects[row?.dialect ?? "own"] ?? ownDialect;
  const place = {
    family: row?.family ?? "subcrew",
    dialect: dialect.id,
    scope: source,
    path,
    ...(row?.deep ? { deep: true as const } : {}),
    ...(row?.folders === undefined ? {} : { folders: row.folders }),
  };
  return listAgentFiles(place, dialect).files.flatMap((file) => {
    const from = { kind: source, file: file.path, family: place.family, dialect: dialect.id };
    const { agents, problems } = readAgentFile(file, dialect, { within: path, source: from });
    return agents.map((read) => {
      const { agent } = read;
      return configOf({ name: agent.name, agent, read, trusted: true, file: file.path, problems, origins: {} });
    });
  });
}

/**
 * The nearest directory with agents of one program, such as `.pi/agents`, in `cwd` or a directory above it, or `null`.
 */
export function findNearestProjectAgentsDir(cwd: string, relative: string = join(".pi", "agents")): string | null {
  return nearestPlace(isAbsolute(cwd) ? cwd : resolve(cwd), relative) ?? null;
}

let loaded: readonly ReadAgent[] | undefined;

/** The bundled agents; read once. */
export function loadBundledAgents(): readonly ReadAgent[] {
  loaded ??= [...bundledAgents];
  return loaded;
}

/** Clears the cache of bundled agents, for tests. */
export function clearBundledAgentsCache(): void {
  loaded = undefined;
}
