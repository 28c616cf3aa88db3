import { agentNameOf, agentOf, type Roster } from "../../core/delegation/roster.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { chooseIsolation } from "../../core/plan/isolation.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Permissions } from "../../core/policy/permissions.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { Engine } from "../../core/task/engine.ts";
import type { JobSettings, JobWorkspace } from "../../core/task/job.ts";
import { defined } from "../../core/text/defined.ts";
import { toolSpellings } from "../../core/vocabulary/tool-names.ts";
import { localEngine } from "../../engines/local.ts";
import { createPendingCleanup } from "../../runtime/async/pending-cleanup.ts";
import { tapeServer } from "../../runtime/cassette/tape.ts";
import { recorderFor } from "../../runtime/changes/recorder.ts";
import type { Start } from "../../runtime/features/start.ts";
import { changesBringer } from "../../runtime/git/bring-changes.ts";
import { workspaceSharer } from "../../runtime/git/shared-workspace.ts";
import type { PreviousRuns } from "../../runtime/resume/previous-runs.ts";
import { withAuthOf } from "../../runtime/resume/recorded-agent.ts";
import { jobsForWorkers } from "../engine/jobs-for-workers.ts";
import type { AskedRun, PrepareParts } from "./asked-run.ts";
import type { AgentsOfRun } from "./run-agents.ts";
import type { RunModels } from "./run-models.ts";
import { openTaskWork, type TaskWork } from "../outfit/task-work.ts";

/** A run whose agents and models are known. */
export type PreparedRun = Readonly<{
  asked: AskedRun;
  parameters: RunParameters;
  agents: AgentsOfRun;
  models: RunModels;
  workspace: JobWorkspace;
  /** The recorded permissions of a resumed run. */
  allowed: Permissions | undefined;
}>;

/** Creates what carries out the tasks of one run, in this process or on workers. */
export async function openRunWork(
  run: PreparedRun,
  parts: PrepareParts,
): Promise<Pick<Start, "engine" | "gone" | "worktrees"> & Required<Pick<Start, "warnings">>> {
  const { asked, agents, models } = run;
  const { options, setup, outfit, remotes } = parts;
  const lingering = createPendingCleanup();
  const job = jobOf(run);
  const work = await openTaskWork(outfit, {
    setup,
    run: asked.run,
    job,
    code: {
      tools: new Set((options.tools ?? []).map(({ name }) => name)),
      models: new Set(Object.keys(options.models ?? {})),
    },
    remotes,
    roster: agents.roster,
    models: models.models,
    earlier: agents.earlier,
    deck: asked.deck,
    linger: lingering.add,
  });
  const left = await outfit.finishCommands();
  const journal: Engine["journal"] = (id, listener) =>
    outfit.store.open(id, listener, {
      ...defined({ sole: asked.options.ownProcess, force: asked.force }),
      known: asked.recorded?.records,
    });
  const { isolate, access } = work.world;
  return {
    engine: outfit.connection
      ? await engineOfWorkers(run, { work, job, journal }, parts)
      : localEngine({ perform: work.perform, journal }),
    ...(isolate && {
      worktrees: {
        isolationOf: (task, depth) => chooseIsolation(task, agentOf(task, agents.roster), depth),
        run: ({ call, dirty, context, ...past }, carriedOut) =>
          isolate.run(call, { dirty, keep: false }, { ...context, ...past }, async ({ worktree }) => ({
            outcome: await carriedOut(worktree!),
            ...(access && { policy: access.policyFor({ name: call.path }, call.policy) }),
          })),
      },
    }),
    warnings: left.map((text) => ({
      code: "QUARANTINE",
      text: `A command was interrupted and left a file behind: ${text}.`,
    })),
    gone: async () => {
      await Promise.all([lingering.gone(), work.world.peers?.end()]);
      await Promise.all([isolate?.sweep(asked.recorded !== undefined), outfit.finishCommands()]);
    },
  };
}

/** The settings of a run for those who carry out its tasks. */
function jobOf({ asked: { recorded }, parameters, models, workspace, allowed }: PreparedRun): JobSettings {
  const settings = recorded?.state.settings;
  const isSilent = [parameters, settings].some((said) => said?.projectInstructions === false);
  return {
    workspace,
    prices: models.prices,
    holds: models.holds,
    ...defined({ permissions: allowed, providers: settings?.providers }),
    ...(isSilent && { projectInstructions: false as const }),
    ...(parameters.reuse && { reuse: true as const }),
  };
}

/** The engine whose workers carry out the tasks of one run. */
async function engineOfWorkers(
  { asked: { run, deck, recorded }, parameters, agents, allowed }: PreparedRun,
  { work, job, journal }: Readonly<{ work: TaskWork; job: JobSettings; journal: Engine["journal"] }>,
  { options, setup, outfit }: PrepareParts,
): Promise<Engine> {
  const { store } = outfit;
  const { cwd, env } = setup;
  const home = env["HOME"];
  const { roster, earlier } = agents;
  const { tools, access } = work.world;
  const coordination = await (await outfit.connection!()).coordination();
  return coordination.engine({
    journal,
    ...defined({ priority: parameters.priority, placementTimeoutMs: parameters.placementTimeoutMs }),
    workspace: workspaceSharer({ cwd, home, store }),
    ...changesBringer({
      past: recorded?.records.events ?? [],
      cwd,
      home,
      store,
      policyOf: (call) => access?.policyFor({ name: call.path }, call.policy),
      ...defined({ recorder: recorderFor(store, run, home) }),
    }),
    ...(deck && { tape: tapeServer(deck.tape) }),
    job: jobsForWorkers({
      settings: { ...job, ...defined({ permissions: allowed ?? options.permissions, tape: deck?.tape.kind }) },
      isReplayed: deck?.tape.kind === "replays" && deck.tape.isWhole,
      roster,
      recorded: ({ path, task }) =>
        earlier.agents.at(path)?.definition ?? (earlier.refresh ? undefined : recordedOf(task, roster, earlier)),
      ownTools: new Set([...tools.keys()].filter((name) => !Object.hasOwn(toolSpellings, name))),
      servers: Object.keys(setup.mcpServers ?? {}),
      ...defined({ model: options.model }),
      offline: outfit.models.look([], "call").lastResort === true,
      sandbox: options.permissions?.sandbox === "required",
    }),
  });
}

/** The recorded definition of the agent of a task that has not begun. */
function recordedOf(task: Task, roster: Roster, { agents }: PreviousRuns): Agent | undefined {
  const name = agentNameOf(task, roster);
  const before = agents.named(name)?.definition;
  return before && agentOf(task, { find: (one) => (one === name ? withAuthOf(before, roster.find(name)) : undefined) });
}
