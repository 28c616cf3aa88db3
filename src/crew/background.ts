import type { Config } from "../core/config/config.ts";
import type { Plan } from "../core/plan/plan.ts";
import { CrewError } from "../core/schema/error.ts";
import { workerCommand } from "../defaults.ts";
import { type CrewSetup, homeOf, type Outfit } from "../outfit.ts";
import { DEFAULT_BACKGROUND_RUNS } from "../runtime/background/background-slots.ts";
import { inBackground } from "../runtime/background/launch-worker.ts";
import { isOwned } from "../runtime/disk/run-claim.ts";
import { needed } from "./kept-store.ts";
import type { CrewOptions } from "./options.ts";
import type { ResumeOptions } from "./run-options.ts";

/** A run that a worker of its own works on. */
export type BackgroundRun = Readonly<{
  id: string;
  folder: string;
  /** Where its result is once it has ended. */
  outputFile: string;
}>;

/** What a worker has to know to make the same crew and see to the run: JSON without secrets. */
export type WorkerOptions = Readonly<{
  crew?: Readonly<Record<string, unknown>>;
  /** Approve whatever asks. */
  yes?: boolean;
}>;

/** A run for a worker; without a plan it is one that is taken up again. */
export type BackgroundJob = WorkerOptions & Readonly<{ id: string; plan?: Plan; options: ResumeOptions }>;

export type HandParts = Readonly<{ options: CrewOptions; config: Config; setup: CrewSetup; outfit: Outfit }>;

/** Hands runs to workers. What is code in this crew cannot go there. */
export function createHand({
  options,
  config,
  setup,
  outfit,
}: HandParts): (run: BackgroundJob) => Promise<BackgroundRun> {
  const { cwd, env } = setup;
  const { store, redactor, clock } = outfit;
  return async ({ crew = {}, ...asked }) => {
    if (asked.plan === undefined && (await isOwned(needed(store).folder(asked.id)))) throw busy(asked.id);
    if ([options.tools, options.agents, Object.keys(options.models ?? {})].some((own) => (own ?? []).length > 0))
      throw new CrewError(
        "BAD_INPUT",
        "A crew with agents, tools or models of its own cannot work in the background.",
        "Give it `toolModules`, agent files and `providers` instead.",
      );
    return inBackground(needed(store), {
      request: redactor.deep({ ...asked, crew: { cwd, ...(setup.trusted && { trust: true }), ...crew }, at: clock() }),
      worker: { command: workerCommand(asked.id), cwd, env: { ...env, SUBCREW_HOME: homeOf(setup) } },
      most: config.background?.maxRuns ?? DEFAULT_BACKGROUND_RUNS,
    });
  };
}

const busy = (id: string): CrewError =>
  new CrewError("RUN_BUSY", `Another process is working on "${id}".`, `See \`subcrew status ${id}\`.`);
