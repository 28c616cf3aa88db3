import type { Config } from "../core/config/config.ts";
import type { Plan } from "../core/plan/plan.ts";
import { defined } from "../core/text/defined.ts";
import { remoteAgents } from "../defaults.ts";
import { compile } from "../modes/compile.ts";
import { drive } from "../runtime/features/drive.ts";
import { readRecordedRun } from "../runtime/resume/recorded-run.ts";
import { resumedPart } from "../runtime/resume/resume-run.ts";
import { type Driver, Run } from "../runtime/run/run.ts";
import { runId } from "../runtime/store/run-id.ts";
import { createLaunch } from "./background.ts";
import { checkRunOptions } from "./check-options.ts";
import type { Crew } from "./crew-type.ts";
import { detachedHelpers } from "./prepare/detached-helpers.ts";
import { features } from "./features.ts";
import type { Finds } from "./prepare/finds.ts";
import type { CrewOptions } from "./outfit/options.ts";
import type { Outfit } from "./outfit/outfit.ts";
import { createPrepare } from "./prepare/prepare.ts";
import type { RunInput } from "./run-input.ts";
import type { RunOptions } from "./prepare/run-options.ts";
import { schemasIn } from "./schemas-in.ts";
import { type CrewSetup, homeOf } from "./outfit/setup.ts";

/** What the runs of a crew are started with. */
export type CrewRunParts = Readonly<{
  options: CrewOptions;
  config: Config;
  setup: CrewSetup;
  outfit: Outfit;
  finds: Finds;
}>;

/** Starts and resumes runs, in this process or in one of their own. */
export function createRuns(parts: CrewRunParts): Pick<Crew, "resume" | "background" | "resumeInBackground"> & {
  run(what: RunInput | Plan, options?: RunOptions): Run;
} {
  const { options: crew, config, setup, outfit } = parts;
  const { store, random, redactor } = outfit;
  const planOf = (what: RunInput | Plan, { strict = false }: RunOptions): Plan =>
    compile(what, { strict, ...defined({ references: config.references }) });
  const run = (what: RunInput | Plan, options: RunOptions = {}): Run => {
    checkRunOptions(options);
    const id = options.id ?? runId(random);
    const driver: Driver = async (it) => {
      const deck = options.deck?.({ cwd: setup.cwd, redactor });
      try {
        await drive(features, await prepare({ run: id, plan: planOf(what, options), options, deck }), it);
      } finally {
        await deck?.end();
      }
    };
    return new Run(id, driver, { signal: options.signal, schema: schemasIn(what, crew.agents) });
  };
  const prepare = createPrepare({
    ...parts,
    remotes: remoteAgents({ ...setup, home: setup.home === false ? undefined : homeOf(setup) }),
    helpers: detachedHelpers(run, { file: (id, path) => store.file(id, path) }),
  });
  const launch = createLaunch(parts);
  return {
    run,
    resume: (which, { retryFailed = false, task, force = false, ...options } = {}) => {
      checkRunOptions(options);
      const id = typeof which === "string" ? which : which.id;
      const driver: Driver = async (it) => {
        const recorded = typeof which === "string" ? await readRecordedRun(store, id) : which;
        const rest = resumedPart(recorded, { retryFailed, ...defined({ task }) });
        if (!rest) return recorded.records.events.forEach(it.publish);
        const start = await prepare({ run: id, plan: rest.plan, options, recorded, force });
        await drive(features, { ...start, resume: rest.resume }, it);
      };
      return new Run(id, driver, { signal: options.signal });
    },
    background: async (what, options = {}, more = {}) => {
      const id = runId(random);
      const plan = planOf(what, options);
      // a faulty input throws in this process, before the background process is started
      await prepare({ run: id, plan, options });
      return launch({ id, plan, options, ...more });
    },
    resumeInBackground: (id, options = {}, more = {}) => launch({ id, options, ...more }),
  };
}
