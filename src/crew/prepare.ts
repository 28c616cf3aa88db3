import { join } from "node:path";
import type { Agent } from "../core/agent/agent.ts";
import type { Config } from "../core/config/config.ts";
import { withRunSettings } from "../core/config/use.ts";
import { isTooDeep, readRunAbove, RUN_ABOVE_VARIABLE, smallerDepth } from "../core/delegation/run-above.ts";
import { agentNameOf, agentOf, policyNameOf, type Roster } from "../core/delegation/roster.ts";
import { checkAgents, checkForks } from "../core/plan/check.ts";
import type { ModelWish } from "../core/model/choose.ts";
import type { HoldRules } from "../core/model/hold.ts";
import type { Body, Plan } from "../core/plan/plan.ts";
import type { Task } from "../core/plan/task.ts";
import { skillNotes } from "../core/plan/preload-skills.ts";
import { chooseIsolation } from "../core/plan/isolation.ts";
import type { Permissions } from "../core/policy/permissions.ts";
import type { KeptEvent, RunEnvironment } from "../core/run/event.ts";
import type { RunParameters } from "../core/run/run-parameters.ts";
import type { JournalOpening } from "../core/run/run-store.ts";
import { capsMoney } from "../core/run/spending-caps.ts";
import { CrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import { version } from "../core/text/version.ts";
import { isForeign, type RunnerName } from "../core/vocabulary/runner-name.ts";
import { toolSpellings } from "../core/vocabulary/tool-names.ts";
import { builtinRunner, type Remotes } from "../defaults.ts";
import { localEngine } from "../engines/local.ts";
import { compile } from "../modes/compile.ts";
import { blockedBy, type CrewSetup, homeOf, type Outfit } from "../outfit.ts";
import { contextAccess } from "../runtime/access/access.ts";
import { createPendingCleanup } from "../runtime/async/pending-cleanup.ts";
import type { Deck } from "../runtime/cassette/deck.ts";
import { tapeServer } from "../runtime/cassette/tape.ts";
import { shadowNotes, withNotes } from "../runtime/discovery/shadow-notes.ts";
import { changesBringer } from "../runtime/git/bring-changes.ts";
import { gitState } from "../runtime/git/git-state.ts";
import { buildContext } from "../runtime/git/context.ts";
import { recorderFor } from "../runtime/changes/recorder.ts";
import { workspaceOf } from "../runtime/files/workspace-of.ts";
import { sharedWorkspace, workspaceSharer } from "../runtime/git/shared-workspace.ts";
import { createIsolate } from "../runtime/git/worktree-task.ts";
import { openPreviousRuns, type PreviousRuns } from "../runtime/resume/previous-runs.ts";
import type { RecordedRun } from "../runtime/resume/recorded-run.ts";
import { carriedAgents, carryAgents, resumedRoster } from "../runtime/resume/carried-agents.ts";
import { withAuthOf } from "../runtime/resume/recorded-agent.ts";
import { createReuse } from "../runtime/resume/reuse-results.ts";
import type { Engine } from "../core/task/engine.ts";
import type { JobSettings, JobWorkspace } from "../core/task/job.ts";
import type { Start } from "../runtime/run/drive.ts";
import { keepImages } from "../runtime/resume/kept-images.ts";
import { openSpendingLedger } from "../runtime/store/spending-ledger.ts";
import { createPerformer } from "../runtime/task/perform.ts";
import { checkModels, withUsableModels } from "./check-models.ts";
import type { Finds } from "./finds.ts";
import { coordinationFor } from "./engine/coordination.ts";
import { jobsForWorkers } from "./engine/jobs-for-workers.ts";
import { isOwnTool, knowAgents, toolNotes } from "./known-agents.ts";
import type { CrewOptions } from "./options.ts";
import type { DetachedHelpers } from "./detached-helpers.ts";
import {
  changedLimits,
  changedSettings,
  holdRulesOf,
  modelsIn,
  onRecordedModel,
  parkRulesOf,
  settingsNow,
  withRecordedLimits,
} from "./recorded-settings.ts";
import type { RunOptions } from "./run-options.ts";
import { budgetOfAbove, countStart, reportAbove, runsBelow } from "./report-above.ts";

/** A run to start; `recorded`: the journal of the run, if it is resumed. */
export type AskedRun = Readonly<{
  force?: boolean;
  run: string;
  plan: Plan;
  options: RunOptions;
  recorded?: RecordedRun;
  deck?: Deck | undefined;
}>;

/** Prepares and checks everything for a run; if it throws, nothing has started. */
export type Prepare = (asked: AskedRun) => Promise<Start>;

/** The parts that all runs of a crew share, and that are used to prepare a run. */
export type PrepareParts = Readonly<{
  options: CrewOptions;
  config: Config;
  setup: CrewSetup;
  outfit: Outfit;
  finds: Finds;
  remotes: Remotes;
  helpers: DetachedHelpers;
}>;

export function createPrepare(parts: PrepareParts): Prepare {
  const { options, config, outfit, setup } = parts;
  const { store, redactor, clock, random } = outfit;
  const { cwd } = setup;
  let found: Promise<JobWorkspace> | undefined;
  const workspace = (): Promise<JobWorkspace> =>
    (found ??= outfit.connection ? sharedWorkspace(cwd, setup.env["HOME"]) : workspaceOf(cwd));
  let asking: Promise<string> | undefined;
  /** The date and the state of the repository; runs that start at the same time ask git once. */
  const environmentNow = async (): Promise<RunEnvironment> => {
    asking ??= gitState(cwd, defined({ home: setup.env["HOME"] }))
      .catch(() => "unknown")
      .finally(() => (asking = undefined));
    return { date: new Date(clock()).toDateString(), git: await asking };
  };
  return async ({ run, plan: asked, options: wishes, recorded, deck, force }) => {
    const { id: _id, deck: _deck, signal: _signal, ownProcess, outliving, parent, continued, ...given } = wishes;
    const past = recorded?.records.events ?? [];
    const environment = environmentIn(past) ?? environmentNow();
    const { concurrency, unattended } = options;
    const defaults = defined({ concurrency, unattended, name: asked.name });
    const wished = { ...defaults, ...defined(given) };
    const limits = recorded?.state.limits;
    const own: RunParameters = limits ? withRecordedLimits(limits, wished) : withRunSettings(config, wished);
    const above = readRunAbove(setup.env[RUN_ABOVE_VARIABLE]);
    if (above && isTooDeep(above))
      throw new CrewError(
        "TOO_DEEP",
        `${above.task} started this run, and that task may not start other agents: the maximum depth is ${above.maxDepth}.`,
        "Raise --max-depth of the parent run, or start this run outside of it.",
      );
    const maxDepth = above ? smallerDepth(own.maxDepth, above.maxDepth) : own.maxDepth;
    const over = above && (await budgetOfAbove(store, above, run));
    const budget = over && !recorded ? over.left(own.budget ?? {}) : own.budget;
    const parameters: RunParameters = { ...own, ...defined({ maxDepth, budget }) };
    const parks = parkRulesOf(parameters, recorded?.state.parks, setup.env);
    const { discovery, skills, again, ...known } = await knowAgents(options.agents ?? [], parts.finds);
    const carried = await carriedAgents(past, { store, roster: known.roster, redactor });
    const refresh = parameters.refreshAgent ?? false;
    const earlier = openPreviousRuns(past, { store, refresh, continued, carried });
    const resumed =
      recorded && resumedRoster(known.roster, { carried, named: (name) => earlier.agents.named(name)?.definition });
    const roster = resumed ?? known.roster;
    const noted = withNotes(asked, [
      ...shadowNotes(asked, discovery),
      ...skillNotes(asked, roster, skills),
      ...toolNotes(asked, options.agents ?? [], isOwnTool(options.tools)),
    ]);
    const exists = (name: string): boolean => (roster.find(name) ?? earlier.agents.named(name)) !== undefined;
    const check = (wanted: Body): void => checkAgents(wanted, exists, roster.names);
    if (!recorded) check(noted); // an agent that is missing later only parks its tasks
    if (!parent && !recorded) checkForks(noted);
    const settings = settingsNow(outfit.models, options, parameters, config.permissions);
    const holds = holdRulesOf(parks, recorded !== undefined, Date.now());
    const served = outfit.models.forRun(holds, recorded?.state.settings?.providers);
    const models = onRecordedModel(deck?.models(served) ?? served, recorded?.state.settings?.model);
    const runnerOf = (task: Task): RunnerName | undefined => task.runner ?? agentOf(task, roster)?.runner;
    const usable = parameters.modelsGiveWay ? await withUsableModels(noted, models, runnerOf) : undefined;
    const plan = usable ? withNotes(usable.body, usable.warnings) : noted;
    if (!outfit.connection) await checkModels(plan, models, runnerOf);
    const { spending } = config;
    if (parameters.budget?.maxUsd !== undefined || (spending && capsMoney(spending))) await outfit.models.loadPrices();
    const allowed = recorded && (recorded.state.permissions ?? {}); // journals without this field were written with the default permissions
    const carry = (body: Pick<Body, "nodes">): ReturnType<typeof carryAgents> =>
      carryAgents(body, { store, run, roster, redactor });
    const work = await carriers(parts, {
      run,
      workspace: await workspace(),
      models,
      roster,
      earlier,
      deck,
      parameters,
      recorded,
      allowed,
      holds,
      claiming: defined({ sole: ownProcess, force }),
    });
    const kept = await keepImages(store, run, plan);
    const { agents, stored } = recorded ? { agents: undefined, stored: undefined } : carry(plan);
    await stored;
    if (over && !recorded) await countStart(over);
    return {
      plan: kept,
      ...work,
      warnings: [
        ...work.warnings,
        ...changedSettings(recorded?.state.settings, settings, modelsIn(plan, recorded?.state.settings?.model)),
        ...(limits ? changedLimits(limits, parameters) : []),
      ],
      clock,
      random,
      redactor,
      version,
      cwd,
      environment: await environment,
      context: recordedContext(past) ?? (plan.context ? redactor.text(await backgroundOf(plan.context, parts)) : ""),
      ...defined({ permissions: options.permissions }),
      settings,
      parks,
      ...(!outfit.connection &&
        deck?.tape.kind !== "replays" &&
        usesLastResort(plan, roster, outfit.models) && { offline: true as const }),
      check: (added) => {
        check(added);
        checkForks(added); // a person adds these tasks, so there is no conversation to fork
      },
      agents: resumed ? async () => resumed.completed(await again()) : again,
      ...defined({ carried: agents, missingAgent: resumed?.missing }),
      carry: (added) => {
        const more = carry(added);
        more.stored.catch(() => {}); // then the task parks after a takeover if its agent is missing there
        return more.agents;
      },
      spawning: { nameOf: (task) => policyNameOf(task, roster), ...blockedBy(setup.env) },
      ...(setup.home !== false &&
        spending && {
          spending: {
            caps: spending,
            ledger: openSpendingLedger(join(homeOf(setup), "spending"), { project: cwd, clock }),
            clock,
          },
        }),
      outputFile: (path) => store.file(run, path),
      shareLease: async (lease, options) => {
        const tasks = [...(parent?.above ?? []), ...(above ? [above.task, ...(above.above ?? [])] : [])];
        return store.lease({ ...lease, workspace: (await workspace()).id, run, above: tasks }, options);
      },
      ...defined({ parent }),
      ...(above && { depth: above.depth + 1, report: (spent) => reportAbove(store, above, spent) }),
      ...(over && { budgetAbove: over }),
      runsBelow: runsBelow(store),
      ...(outliving && { background: parts.helpers(outliving, given) }),
      compile: (what) => {
        const inner = compile(what, defined({ references: config.references }));
        check(inner);
        return inner;
      },
      parameters,
    };
  };
}

/** The recorded definition of the agent of a task that has not begun. */
function recordedOf(task: Task, roster: Roster, { agents }: PreviousRuns): Agent | undefined {
  const name = agentNameOf(task, roster);
  const before = agents.named(name)?.definition;
  return before && agentOf(task, { find: (one) => (one === name ? withAuthOf(before, roster.find(name)) : undefined) });
}

/** True if a task gets the offline model because no provider of the default models can be used. */
function usesLastResort(body: Body, roster: Roster, models: Outfit["models"]): boolean {
  return Object.values(body.nodes).some((node) => {
    if (node.kind === "loop") return usesLastResort(node.body, roster, models);
    if (node.kind !== "task") return false;
    const agent = agentOf(node.task, roster);
    if (agent?.remote || isForeign(node.task.runner ?? agent?.runner)) return false; // remote agents and other agent programs choose their models themselves
    const wishes: ModelWish[] = [
      ...(node.task.model === undefined ? [] : [{ by: "call" as const, names: node.task.model }]),
      ...(agent?.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
    ];
    return models.look(wishes, "call").lastResort === true;
  });
}

/**
 * The recorded context text that precedes the prompts of a resumed run; the files that it came from may have changed
 * since.
 */
function recordedContext([first]: readonly KeptEvent[]): string | undefined {
  return first?.type === "run.started" ? first.context : undefined;
}

/** The recorded environment of a resumed run: the repository may have changed since. */
function environmentIn([first]: readonly KeptEvent[]): RunEnvironment | undefined {
  return first?.type === "run.started" ? first.environment : undefined;
}

/** The context text of a run (files, git state), without files that the run's agents may not read. */
async function backgroundOf(
  wanted: NonNullable<Plan["context"]>,
  { outfit, setup: { cwd } }: PrepareParts,
): Promise<string> {
  return buildContext(cwd, wanted, await contextAccess(await outfit.access()));
}

type Carried = Readonly<{
  run: string;
  workspace: JobWorkspace;
  models: Parameters<typeof createPerformer>[0]["models"];
  roster: Roster;
  earlier: PreviousRuns;
  deck: Deck | undefined;
  parameters: RunParameters;
  holds: HoldRules;
  claiming: Pick<JournalOpening, "force" | "sole">;
  recorded: RecordedRun | undefined;
  /** The recorded permissions of the run. */
  allowed: Permissions | undefined;
}>;

/**
 * Creates the parts that execute the tasks of one run, and the function that cleans up everything that the tasks
 * started.
 */
async function carriers(
  { options, config, setup, outfit, remotes }: PrepareParts,
  { run, workspace, models, roster, earlier, deck, parameters, recorded, allowed, holds, claiming }: Carried,
): Promise<Required<Pick<Start, "engine" | "gone" | "warnings" | "worktrees">>> {
  const { store, redactor, clock, worldFor } = outfit;
  const { cwd, env } = setup;
  const silent = [parameters, recorded?.state.settings].some((said) => said?.projectInstructions === false);
  const lingering = createPendingCleanup();
  const job: JobSettings = {
    workspace,
    prices: parameters.budget?.maxUsd !== undefined || capsMoney(config.spending ?? {}),
    holds,
    ...defined({ permissions: allowed, providers: recorded?.state.settings?.providers }),
    ...(silent && { projectInstructions: false as const }),
    ...(parameters.reuse && { reuse: true as const }),
  };
  const runner = builtinRunner({
    setup,
    job,
    code: {
      tools: new Set((options.tools ?? []).map(({ name }) => name)),
      models: new Set(Object.keys(options.models ?? {})),
    },
    linger: lingering.add,
    remotes,
  });
  const isolate = createIsolate({
    cwd,
    home: env["HOME"],
    worktrees: store.local(run, "worktrees"),
    patch: (path) => store.file(run, path, { kind: "patch" }),
    ...defined({ recorder: recorderFor(store, run, env["HOME"]) }),
    linger: lingering.add,
  });
  const world = await worldFor(roster, deck?.runner(runner) ?? runner, allowed);
  const left = await outfit.finishCommands();
  const peers = world.peers && (deck?.peers(world.peers) ?? world.peers);
  const reuse = createReuse(store, { always: parameters.reuse ?? false, redact: redactor.text, clock });
  const journal: Engine["journal"] = (id, listener) =>
    store.open(id, listener, { ...claiming, known: recorded?.records });
  const there = outfit.connection && (await coordinationFor(outfit.connection));
  return {
    engine: there
      ? there.engine({
          journal,
          ...defined({ priority: parameters.priority, placementTimeoutMs: parameters.placementTimeoutMs }),
          workspace: workspaceSharer({ cwd, home: env["HOME"], store }),
          ...changesBringer({
            past: recorded?.records.events ?? [],
            cwd,
            home: env["HOME"],
            store,
            policyOf: (call) => world.access?.policyFor({ name: call.path }, call.policy),
            ...defined({ recorder: recorderFor(store, run, env["HOME"]) }),
          }),
          ...(deck && { tape: tapeServer(deck.tape) }),
          job: jobsForWorkers({
            settings: { ...job, ...defined({ permissions: allowed ?? options.permissions, tape: deck?.tape.kind }) },
            isReplayed: deck?.tape.kind === "replays" && deck.tape.isWhole,
            roster,
            recorded: ({ path, task }) =>
              earlier.agents.at(path)?.definition ?? (earlier.refresh ? undefined : recordedOf(task, roster, earlier)),
            ownTools: new Set([...world.tools.keys()].filter((name) => !Object.hasOwn(toolSpellings, name))),
            servers: Object.keys(setup.mcpServers ?? {}),
            ...defined({ model: options.model }),
            offline: outfit.models.look([], "call").lastResort === true,
            sandbox: options.permissions?.sandbox === "required",
          }),
        })
      : localEngine({
          perform: createPerformer({
            ...world,
            ...(silent && { instructions: () => ({ text: "", notes: [] }) }),
            ...defined({ peers }),
            models,
            earlier,
            isolate,
            linger: lingering.add,
            ...(deck && { acceptance: deck.acceptance }),
            reuse,
          }),
          journal,
        }),
    worktrees: {
      isolationOf: (task, depth) => chooseIsolation(task, agentOf(task, roster), depth),
      run: ({ call, dirty, context, ...past }, work) =>
        isolate.run(call, { dirty, keep: false }, { ...context, ...past }, async ({ worktree }) => ({
          outcome: await work(worktree!),
          ...(world.access && { policy: world.access.policyFor({ name: call.path }, call.policy) }),
        })),
    },
    warnings: left.map((text) => ({
      code: "QUARANTINE",
      text: `A command was interrupted and left a file behind: ${text}.`,
    })),
    gone: async () => {
      await Promise.all([lingering.gone(), world.peers?.end()]);
      await Promise.all([isolate.sweep(recorded !== undefined), outfit.finishCommands()]);
    },
  };
}
