import { policyNameOf } from "../../core/delegation/roster.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { RunEnvironment } from "../../core/run/event.ts";
import { defined } from "../../core/text/defined.ts";
import { version } from "../../core/text/version.ts";
import type { JobWorkspace } from "../../core/task/job.ts";
import { compile } from "../../modes/compile.ts";
import { blockedBy, homeOf } from "../outfit/setup.ts";
import { contextAccess } from "../../runtime/access/closed-in-folder.ts";
import { findParentRun } from "../../runtime/features/parent-run.ts";
import type { Start } from "../../runtime/features/start.ts";
import { workspaceOf } from "../../runtime/files/workspace-of.ts";
import { buildContext } from "../../runtime/git/context.ts";
import { gitState } from "../../runtime/git/git-state.ts";
import { sharedWorkspace } from "../../runtime/git/shared-workspace.ts";
import { keepImages } from "../../runtime/resume/kept-images.ts";
import type { AskedRun, PrepareParts } from "./asked-run.ts";
import { openRunWork } from "./run-work.ts";
import { changedLimits, changedSettings, modelsIn, parkRulesOf, settingsNow } from "./recorded-settings.ts";
import { findRunAgents } from "./run-agents.ts";
import { findRunModels } from "./run-models.ts";
import { parametersIn, parametersOf } from "./run-parameters.ts";

/** Prepares and checks everything for a run; if it throws, nothing has started. */
export type Prepare = (asked: AskedRun) => Promise<Start>;

export function createPrepare(parts: PrepareParts): Prepare {
  const { options: crew, config, outfit, setup } = parts;
  const { store, redactor, clock, random } = outfit;
  const here = placeOf(parts);
  return async (asked) => {
    const { run, options, recorded } = asked;
    const { state } = recorded ?? {};
    const begun = recorded?.records.events.find((event) => event.type === "run.started");
    const environment = begun?.environment ?? here.environment(); // the repository may have changed since the start
    const above = await findParentRun(store, setup.env, run);
    const parameters = parametersOf(asked, parts, above);
    const parks = parkRulesOf(parameters, state?.parks, setup.env);
    const agents = await findRunAgents(asked, parameters.refreshAgent ?? false, parts);
    const models = await findRunModels(asked, { parameters, parks, agents }, parts);
    const settings = settingsNow(outfit.models, crew, parameters, config.permissions);
    const workspace = await here.workspace();
    const allowed = state && (state.permissions ?? {}); // journals without this field were written with the default permissions
    const work = await openRunWork({ asked, parameters, agents, models, workspace, allowed }, parts);
    const plan = await keepImages(store, run, models.plan);
    const carried = recorded ? undefined : agents.carry(plan);
    await carried?.stored;
    return {
      plan,
      parameters,
      ...work,
      warnings: [
        ...work.warnings,
        ...changedSettings(state?.settings, settings, modelsIn(plan, state?.settings?.model)),
        ...(state?.limits ? changedLimits(state.limits, parameters) : []),
      ],
      ...{ clock, random, redactor, version, cwd: setup.cwd, store, settings: config, env: setup.env, parks },
      ...(setup.home !== false && { home: homeOf(setup) }),
      workspace: workspace.id,
      environment: await environment,
      context: begun ? (begun.context ?? "") : await here.context(models.plan),
      begins: defined({
        permissions: crew.permissions,
        settings,
        offline: models.isOffline ? (true as const) : undefined,
        agents: carried?.agents,
      }),
      ...defined({ parent: options.parent, above, missingAgent: agents.missingAgent }),
      agents: agents.agents,
      check: agents.checkAdded,
      carry: (added) => {
        const more = agents.carry(added);
        more.stored.catch(() => {}); // then the task parks after a takeover if its agent is missing there
        return more.agents;
      },
      spawning: { nameOf: (task) => policyNameOf(task, agents.roster), ...blockedBy(setup.env) },
      outputFile: (path) => store.file(run, path),
      ...(options.outliving && { background: parts.helpers(options.outliving, parametersIn(options)) }),
      compile: (what) => {
        const inner = compile(what, defined({ references: config.references }));
        agents.check(inner);
        return inner;
      },
    };
  };
}

/** The workspace of a crew, and what its runs say about it. */
function placeOf({ outfit, setup: { cwd, env } }: PrepareParts): Readonly<{
  workspace(): Promise<JobWorkspace>;
  /** The date and the state of the repository; runs that start at the same time ask git once. */
  environment(): Promise<RunEnvironment>;
  /** The context text of a run (files, git state), without files that the run's agents may not read. */
  context(plan: Plan): Promise<string>;
}> {
  const home = env["HOME"];
  let found: Promise<JobWorkspace> | undefined;
  let asking: Promise<string> | undefined;
  return {
    workspace: () => (found ??= outfit.connection ? sharedWorkspace(cwd, home) : workspaceOf(cwd)),
    environment: async () => {
      asking ??= gitState(cwd, defined({ home }))
        .catch(() => "unknown")
        .finally(() => (asking = undefined));
      return { date: new Date(outfit.clock()).toDateString(), git: await asking };
    },
    context: async ({ context }) =>
      context ? outfit.redactor.text(await buildContext(cwd, context, await contextAccess(await outfit.access()))) : "",
  };
}
