import { dirname, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import type { Skill, WorkflowCommand } from "../../core/agent/skill.ts";
import { agentWords, placeWords } from "../../core/config/use.ts";
import { findAgents, findCommands, findSkills, type Workflows } from "../../defaults.ts";
import { createDiscoveryCache, type Discovery, type Trust } from "../../runtime/discovery/discover.ts";
import type { LoadedConfig } from "../../runtime/settings/load-config.ts";

/** All agents, skills and commands that a crew finds now. */
export type Finds = Readonly<{
  agents(): Promise<Discovery>;
  skills(): Promise<Workflows<Skill>>;
  commands(): Promise<Workflows<WorkflowCommand>>;
}>;

/**
 * `anywhere: false`: only bundled agents are found. Trust is checked each time, since the user may have granted it
 * meanwhile.
 */
export type FindsOptions = Readonly<{
  cwd: string;
  home: string;
  anywhere: boolean;
  settings: LoadedConfig;
  trust(): Trust;
  /** Receives every agent that is found and trusted, so that its secrets are masked. */
  learn(agents: readonly Agent[]): void;
}>;

export function createFinds({ cwd, home, anywhere, settings, trust, learn }: FindsOptions): Finds {
  const { config } = settings;
  const places = { cwd, home, ...placeWords(config), ...(anywhere ? {} : { sources: [] }) };
  const cache = createDiscoveryCache();
  let modules: Promise<readonly ReadAgent[]> | undefined;
  let looking: Promise<Discovery> | undefined;
  const look = async (): Promise<Discovery> => {
    modules ??= agentModules(settings, home);
    const inline = await modules;
    const found = await findAgents({
      ...places,
      ...settings.agents,
      ...agentWords(config),
      trust: trust(),
      cache,
      inline,
    });
    const { agents, unlisted, disabled, shadowed, otherScopes } = found;
    const hidden = [...shadowed, ...otherScopes].map((each) => each.found);
    learn([...agents, ...unlisted, ...disabled, ...hidden].flatMap(({ trusted, agent }) => (trusted ? [agent] : [])));
    return found;
  };
  return {
    // Runs that are started in one turn of the event loop share one search for agents. It begins after the turn, so that each
    // run finds the files that were written before the run asked.
    agents: () =>
      (looking ??= setImmediate().then(() => {
        looking = undefined;
        return look();
      })),
    skills: () => findSkills({ ...places, trust: trust() }),
    commands: () => findCommands({ ...places, trust: trust() }),
  };
}

/** The agents of the modules that the user named; relative paths start from the file that names them. */
async function agentModules({ config, placeOf }: LoadedConfig, home: string): Promise<readonly ReadAgent[]> {
  if (config.modules === undefined) return [];
  const { loadAgentModule } = await import("../../formats/module.ts");
  const folder = dirname(placeOf("modules")?.file ?? resolve("settings"));
  const files = config.modules.map((file) => resolve(folder, file.replace(/^~(?=\/)/, home)));
  return (await Promise.all(files.map(loadAgentModule))).flat();
}
