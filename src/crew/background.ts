import type { Config } from "../core/config/config.ts";
import type { Plan } from "../core/plan/plan.ts";
import { CrewError } from "../core/schema/error.ts";
import { backgroundCommand } from "../defaults.ts";
import { type CrewSetup, homeOf } from "./outfit/setup.ts";
import type { Outfit } from "./outfit/outfit.ts";
import { DEFAULT_BACKGROUND_RUNS } from "../runtime/background/background-slots.ts";
import { launchRun } from "../runtime/background/launch-run.ts";
import type { CrewOptions } from "./outfit/options.ts";
import type { ResumeOptions } from "./prepare/run-options.ts";

/** A run in a separate process. */
export type BackgroundRun = Readonly<{
  id: string;
  folder: string;
  /** The file that contains the run's result once it has ended. */
  outputFile: string;
}>;

/**
 * The options from which the process of a background run creates the same crew; they are JSON and contain no secrets.
 */
export type BackgroundOptions = Readonly<{
  crew?: Readonly<Record<string, unknown>>;
  /** True: every question of the run is answered with yes. */
  yes?: boolean;
}>;

/** A run to start in the background; without a plan, an existing run to resume. */
export type BackgroundJob = BackgroundOptions & Readonly<{ id: string; plan?: Plan; options: ResumeOptions }>;

export type LaunchParts = Readonly<{ options: CrewOptions; config: Config; setup: CrewSetup; outfit: Outfit }>;

/**
 * Starts runs in the background. Code that was passed to this crew (tools, models) is not available in the background
 * process.
 */
export function createLaunch({
  options,
  config,
  setup,
  outfit,
}: LaunchParts): (run: BackgroundJob) => Promise<BackgroundRun> {
  const { cwd, env } = setup;
  const { store, redactor, clock } = outfit;
  return async ({ crew = {}, ...asked }) => {
    const owner = asked.plan === undefined ? await store.owner(asked.id) : undefined;
    if (owner !== undefined && !(owner.host !== undefined && asked.options.force)) throw busy(asked.id);
    if ([options.tools, options.agents, Object.keys(options.models ?? {})].some((own) => (own ?? []).length > 0))
      throw new CrewError(
        "BAD_INPUT",
        "A crew with agents, tools or models defined in code cannot run in the background.",
        "Use `toolModules`, agent files and `providers` instead.",
      );
    return launchRun(store, {
      request: redactor.deep({ ...asked, crew: { cwd, ...(setup.trusted && { trust: true }), ...crew }, at: clock() }),
      process: {
        command: backgroundCommand(asked.id),
        cwd,
        env: {
          ...env,
          SUBCREW_HOME: homeOf(setup),
          ...(setup.engine !== undefined && { SUBCREW_ENGINE: setup.engine }),
        },
      },
      most: config.background?.maxRuns ?? DEFAULT_BACKGROUND_RUNS,
    });
  };
}

const busy = (id: string): CrewError =>
  new CrewError("RUN_BUSY", `Another process is working on the run "${id}".`, `See \`subcrew status ${id}\`.`);
