import { homedir } from "node:os";
import type { Skill } from "../../core/agent/skill.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { createGuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import { openProjectRuns } from "../../runtime/resume/project-runs.ts";
import { projectTrust } from "../../runtime/settings/project-trust.ts";
import { openMemory } from "../../runtime/ledgers/memory.ts";
import type { World } from "../../runtime/task/world.ts";
import { searchBackend } from "../../tools/parts/search-backends.ts";
import type { ToolParts } from "../../tools/parts/tool-parts.ts";
import { openServers } from "./open-servers.ts";
import { blockedBy, type CrewCode, type CrewSetup, homeOf } from "./setup.ts";

/** The tools of a crew. */
export type CrewTools = Readonly<{
  /** Tools by name: built in, from modules, and the caller's own. They do not change, so all runs share them. */
  all(): Promise<World["tools"]>;
  /** Creates delegation tools in the requested spelling. */
  delegation: NonNullable<World["delegation"]>;
  /** The MCP servers that the agents of one run may use. */
  peers(): PeerTools;
}>;

/** Finds skills in the same places as the crew. */
export type SkillSource = Readonly<{ skills?: () => Promise<readonly Skill[]> }>;

type ToolSources = Pick<CrewCode, "tools"> &
  SkillSource &
  Readonly<{ store: RunStore; redactor: Redactor; clock(): number }>;

export function openTools(setup: CrewSetup, { store, redactor, clock, ...code }: ToolSources): CrewTools {
  const { cwd, env } = setup;
  const kept = setup.home === false ? undefined : homeOf(setup);
  const parts: ToolParts = {
    fetch: createGuardedFetch(setup.network, { env }),
    ...(setup.webSearch && { search: searchBackend(setup.webSearch, env) }),
    skills: code.skills ?? ((): Promise<readonly Skill[]> => skillsFor(setup)),
    history: openProjectRuns(store, cwd),
    ...(kept !== undefined && { memory: openMemory({ home: kept, project: cwd, clock, redact: redactor.text }) }),
  };
  let tools: World["tools"] | undefined;
  return {
    all: async () => {
      if (tools) return tools;
      const [{ builtinTools }, own] = await Promise.all([import("../../tools/table.ts"), ownTools(setup)]);
      const more = [...own, ...(code.tools ?? [])].map((tool) => [tool.name, tool] as const);
      return (tools ??= new Map([...builtinTools(parts), ...more]));
    },
    delegation: async (spellings, caller) => {
      const { delegationTools } = await import("../../facades/table.ts");
      const more = { ...parts, clock, ...defined({ box: setup.output?.box }) };
      return delegationTools(spellings, { ...blockedBy(env), ...caller }, more);
    },
    peers: openServers(setup, redactor),
  };
}

/**
 * The skills of a task in another process: from the default places, since the crew's own options are not known in that
 * process.
 */
async function skillsFor(setup: CrewSetup): Promise<readonly Skill[]> {
  const { cwd, env, userHome } = setup;
  const { findSkills } = await import("../../defaults.ts");
  const trust = projectTrust({ ...setup, state: homeOf(setup) });
  return (await findSkills({ cwd, home: userHome ?? env["HOME"] ?? homedir(), trust })).all;
}

async function ownTools({ cwd, toolModules = [] }: CrewSetup): Promise<readonly Tool[]> {
  if (toolModules.length === 0) return [];
  const { loadToolModule } = await import("../../tools/module.ts");
  return (await Promise.all(toolModules.map((file) => loadToolModule(file, cwd)))).flat();
}
