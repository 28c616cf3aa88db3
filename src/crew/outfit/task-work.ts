import type { Roster } from "../../core/delegation/roster.ts";
import type { Perform } from "../../core/task/engine.ts";
import type { JobSettings } from "../../core/task/job.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { builtinRunner, type Remotes } from "../../defaults.ts";
import type { CrewSetup } from "./setup.ts";
import type { Outfit } from "./outfit.ts";
import { runFeatures } from "../../runtime/features/features.ts";
import type { WorkOfRun } from "../../runtime/features/feature.ts";
import type { PreviousRuns } from "../../runtime/resume/previous-runs.ts";
import { createPerformer } from "../../runtime/task/perform.ts";
import type { World } from "../../runtime/task/world.ts";

/** What carries out the tasks of a run on one machine. */
export type TaskWork = Readonly<{ world: World; perform: Perform }>;

export type TaskWorkParts = Readonly<{
  setup: CrewSetup;
  run: string;
  job: JobSettings;
  /** Names of tools and models that exist in this process only. */
  code: Readonly<{ tools: ReadonlySet<string>; models: ReadonlySet<string> }>;
  remotes: Remotes;
  roster: Roster;
  models: ModelSource;
  earlier: PreviousRuns;
  deck: WorkOfRun["deck"];
  linger: WorkOfRun["linger"];
}>;

/** Creates what carries out the tasks of a run: in the process that drives it, and on each worker. */
export async function openTaskWork(
  { store, worldFor }: Pick<Outfit, "store" | "worldFor">,
  { setup, run, job, code, remotes, roster, models, earlier, deck, linger }: TaskWorkParts,
): Promise<TaskWork> {
  const runner = builtinRunner({ setup, job, code, linger, remotes });
  const base: World = {
    ...(await worldFor(roster, runner, job.permissions)),
    ...(job.projectInstructions === false && { instructions: () => ({ text: "", notes: [] }) }),
    models,
    earlier,
    linger,
  };
  const of: WorkOfRun = { run, store, deck, linger, ...defined({ reuse: job.reuse }) };
  const world = runFeatures.reduceRight((inner, { work }) => work?.(inner, of) ?? inner, base);
  return { world, perform: createPerformer(world) };
}
