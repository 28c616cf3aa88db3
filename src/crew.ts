import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Agent } from "./core/agent.ts";
import type { BudgetLimits } from "./core/budget.ts";
import { type Catalog, cardOf } from "./core/catalog.ts";
import { checkAgents } from "./core/check.ts";
import type { Choice, ModelWish } from "./core/choose-model.ts";
import type { Config } from "./core/config.ts";
import { settleConfig } from "./core/config-layers.ts";
import { agentWords, crewWords, placeWords, runWords } from "./core/config-use.ts";
import type { ReadAgent } from "./core/dialect.ts";
import type { Background, Parent } from "./core/engine.ts";
import { CrewError } from "./core/error.ts";
import type { KeptEvent, Origin } from "./core/event.ts";
import type { AnyInput } from "./core/input.ts";
import { DEFAULT_MAX_DEPTH } from "./core/limits.ts";
import type { Model } from "./core/model.ts";
import type { McpServers } from "./core/mcp-server.ts";
import { type Permissions, withPermissions } from "./core/permissions.ts";
import type { Body, Plan } from "./core/plan.ts";
import { skillNotes, usesSkills, withSkills } from "./core/preload.ts";
import type { Skill, WorkflowCommand } from "./core/skill.ts";
import { emptyState, reduce, type State } from "./core/state.ts";
import { isForeign, type RunnerName } from "./core/runner-name.ts";
import type { ModelSource } from "./core/runner.ts";
import type { Task } from "./core/task.ts";
import type { Caller } from "./core/spawn.ts";
import { DELEGATION_TOOL } from "./core/tool-names.ts";
import type { Tool } from "./core/tool.ts";
import {
  builtinRunner,
  findAgents,
  findCommands,
  findSkills,
  makeEngine,
  readSettings,
  remoteAgents,
  type Workflows,
  workerCommand,
} from "./defaults.ts";
import type { LanguageModel } from "./models/is-language-model.ts";
import type { ModelOverview } from "./models/overview.ts";
import { noModel, type ModelConfig } from "./models/registry.ts";
import { compile, type Input } from "./modes/compile.ts";
import { local } from "./runners/local.ts";
import { barredBy } from "./runtime/assign.ts";
import type { Deck, DeckMaker } from "./runtime/cassette.ts";
import { buildContext } from "./runtime/context.ts";
import { createDiscoveryCache, findAgent, type Discovery, type FoundAgent, type Trust } from "./runtime/discover.ts";
import { type AgentExplanation, explainAgent, type ExplainedCall } from "./runtime/explain-agent.ts";
import { drive, type Start } from "./runtime/drive.ts";
import { createOutfit, homeOf, type Setup } from "./outfit.ts";
import type { NetworkRules } from "./runtime/guarded-fetch.ts";
import { memoryJournal, openJournal, readForResume, readJournal } from "./runtime/journal.ts";
import { createLingering } from "./runtime/lingering.ts";
import { createOutliving } from "./runtime/outliving.ts";
import { createPerformer } from "./runtime/perform.ts";
import { continuing, type Continuing } from "./runtime/continue-task.ts";
import { createEarlier } from "./runtime/earlier.ts";
import { createIsolate } from "./runtime/isolate.ts";
import { keptRuns, type KeptRuns } from "./runtime/kept-runs.ts";
import { inBackground } from "./runtime/launch.ts";
import { DEFAULT_BACKGROUND_RUNS } from "./runtime/starting.ts";
import { isOwned } from "./runtime/owner.ts";
import { createReuse } from "./runtime/reuse.ts";
import type { Run } from "./runtime/run.ts";
import { servedRun } from "./runtime/serve-run.ts";
import { runId, type Store } from "./runtime/store.ts";
import { noConfig, type LoadConfigOptions, type LoadedConfig } from "./runtime/load-config.ts";
import { shadowNotes, withNotes } from "./runtime/shadow-notes.ts";
import { openTrust, trustEverything } from "./runtime/trust.ts";
import { agentOf, type Roster } from "./runtime/roster.ts";
import { version } from "./core/version.ts";
import type { WebSearch } from "./tools/search-backends.ts";

/** What a crew is made of; everything has a default. */
export type CrewOptions = Readonly<{
  /** The workspace; the current folder by default. */
  cwd?: string;
  /** Where runs are kept: `$SUBCREW_HOME` or `~/.subcrew` by default; `false`: nowhere. */
  home?: string | false;
  /** Where the user's own agents are looked for. */
  userHome?: string;
  /** Agents besides those that are found; they come first. */
  agents?: readonly Agent[];
  /** False: only `agents` and the bundled ones exist. */
  discover?: boolean;
  /** The project's own agents may run. */
  trusted?: boolean;
  /** Tools of one's own. They exist in this process only: a task in another one cannot use them. */
  tools?: readonly Tool[];
  /** Modules that export tools; those exist in every process in which a task runs. */
  toolModules?: readonly string[];
  /** Models of one's own, or model objects of the AI SDK's ecosystem, by the names they get here. */
  models?: Readonly<Record<string, Model | LanguageModel>>;
  /** Addresses, keys and headers of known providers, and providers of one's own. */
  providers?: ModelConfig["providers"];
  /** What `fast`, `balanced` and `powerful` mean here. */
  tiers?: ModelConfig["tiers"];
  /** The model of tasks for which nobody names one: by default the first of `models`, the first with a key, or offline. */
  model?: string | readonly string[];
  /**
   * Settings for what is not said here. `true`: those of the user's file, of a trusted project's and of the variables.
   * By default there are none.
   */
  config?: Config | true;
  concurrency?: number;
  /** Whose output schema counts when both an agent and a call have one: the agent's by default. */
  schemaPrecedence?: "agent" | "call";
  /** Nobody is there to answer gates. */
  unattended?: boolean;
  /** What agents may do unasked, what never, and how commands are isolated. */
  permissions?: Permissions;
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that tasks and their programs may see besides PATH, HOME and the like. */
  passEnv?: readonly string[];
  /** A checker of the project, and who reads what it says after changing files: the agent `code` by default. */
  diagnostics?: Readonly<{ command: string; agents?: readonly string[]; timeoutMs?: number }>;
  /** Values that must not be seen anywhere, besides those of variables whose name says so. */
  secrets?: readonly string[];
  /** What the network tools may reach besides the public internet. */
  network?: NetworkRules;
  /** The search engine behind `web_search`; none by default. */
  webSearch?: WebSearch;
  /** MCP servers whose tools agents may use, by the names that those begin with. */
  mcpServers?: McpServers;
  clock?: () => number;
  random?: () => number;
}>;

/** What is different about one run. */
export type RunOptions = Readonly<{
  name?: string;
  concurrency?: number;
  maxTimeMs?: number;
  maxDepth?: number;
  /** What the run and everything below it may use. */
  budget?: BudgetLimits;
  unattended?: boolean;
  /** False: nobody is there to be asked about calls, although gates are answered. */
  asksCalls?: boolean;
  /** A placeholder that refers to nothing is an error. */
  strict?: boolean;
  /** How long a question waits for its answer before it counts as refused; for ever by default. */
  answerTimeoutMs?: number;
  /** Use results of earlier runs whose agent, input, model, tools and files are still the same. */
  reuse?: boolean;
  /** Take agents as they are now instead of as they were recorded; they still may use no more than before. */
  refreshAgent?: boolean;
  /** The task of an earlier run that this one goes on with, as `run/path`. */
  continues?: string;
  /** Who asked for it from outside of this machine. */
  origin?: Origin;
  /** The id, where somebody had to know it before; a new one by default. */
  id?: string;
  /**
   * What its agent starts in the background goes on when the run has ended, as a run of its own in this process; `ended`
   * is told about each. By default helpers end with whoever started them.
   */
  outliving?: Readonly<{ ended?(run: Run): void }>;
  /** Whoever asked for the run, when an agent did: what it may use bounds what this may use. */
  parent?: Parent & Readonly<{ depth: number }>;
  /** Records what passes between tasks and their models and tools, or answers it from a recording. */
  deck?: DeckMaker;
}>;

/** A run that a worker of its own works on. */
export type BackgroundRun = Readonly<{
  id: string;
  folder: string /** where its result is once it has ended */;
  outputFile: string;
}>;

/** What a worker has to know to make the same crew and see to the run: JSON without secrets. */
export type WorkerOptions = Readonly<{
  crew?: Readonly<Record<string, unknown>> /** approve whatever asks */;
  yes?: boolean;
}>;

export type ResumeOptions = RunOptions & Readonly<{ /** Try again what failed, too. */ retryFailed?: boolean }>;

/** The composition root: every surface makes one of these and asks it for runs. */
export type Crew = Readonly<{
  run(what: Input | Plan | AnyInput, options?: RunOptions): Run;
  /** Goes on with a run that was interrupted or cancelled; of one that ended, the result. */
  resume(id: string, options?: ResumeOptions): Run;
  /**
   * Hands a run to a worker that outlives this process, and resolves once it has really started. Its questions wait in
   * the inbox. What is wrong with it is thrown here, before anything runs.
   */
  background(what: Input | Plan | AnyInput, options?: RunOptions, worker?: WorkerOptions): Promise<BackgroundRun>;
  /** The same for a run that is to be taken up again. */
  resumeInBackground(id: string, options?: ResumeOptions, worker?: WorkerOptions): Promise<BackgroundRun>;
  /** The runs that were kept, whoever works on them: to look at, to speak to, to wait for, to take away. */
  kept: KeptRuns;
  /** The plan of a run that goes on with a task that has ended: its conversation, agent, model and rights are kept. */
  continuing(task: Omit<Continuing, "now">): Promise<Readonly<{ plan: Plan; continues: string; name?: string }>>;
  /** Every agent there is right now, and what came and went since the last time. */
  agents(): Promise<Discovery>;
  /** What an input means, as a plan. */
  plan(what: Input | Plan | AnyInput): Plan;
  /** Where the output of a node is kept; absent: nowhere. */
  outputFile?: (run: string, path: string) => string;
  /** The same as a model sees it that may start them, with the agents that were handed in. */
  catalog(): Promise<Catalog>;
  /** Delegation tools for somebody outside of runs, described for the agents there are now; see `openDelegation`. */
  delegationTools(spellings: readonly string[], caller?: Partial<Caller>): Promise<readonly Tool[]>;
  /** Every skill there is right now, and every workflow command. */
  skills(): Promise<Workflows<Skill>>;
  commands(): Promise<Workflows<WorkflowCommand>>;
  /** An agent as it would run with what a call says, and where everything came from. */
  explain(found: FoundAgent, call?: ExplainedCall): Promise<AgentExplanation & Readonly<{ model: Choice }>>;
  /** The settings that hold, and where each was made. */
  settings: LoadedConfig;
  /** What names of models mean here, and which providers can be used. */
  models(): Promise<ModelOverview>;
  /** The ids of the runs that were kept, newest first. */
  runs(): Promise<readonly string[]>;
  /** The id of the run that an id, the beginning of one, or a name means. */
  findRun(word: string): Promise<string>;
  /** What is recorded about a run. */
  record(id: string): Promise<State>;
  cwd: string;
}>;

/** A crew that knows nothing of any other in the process. */
export function createCrew(given: CrewOptions = {}): Crew {
  const cwd = resolve(given.cwd ?? process.cwd());
  const env = given.env ?? process.env;
  const where = { cwd, home: given.userHome ?? env["HOME"] ?? homedir() };
  const trust = (): Trust =>
    given.trusted === true ? trustEverything : openTrust(join(homeOf({ ...given, env }), "trust.json")).trust;
  const settings = settingsFor(given.config, { ...where, state: homeOf({ ...given, env }), env, trust: trust() });
  const { config } = settings;
  const options: CrewOptions = {
    ...crewWords(config),
    ...given,
    permissions: withPermissions(config.permissions, given.permissions),
  };
  const setup = setupOf(options, { cwd, env });
  const { models, redactor, store, clock, random, worldFor, delegation } = createOutfit(setup, {
    ...options,
    skills: async () => (await skills()).all,
  });
  const remotes = remoteAgents({ ...setup, home: setup.home === false ? undefined : homeOf(setup) });
  const cache = createDiscoveryCache();
  const nowhere = options.discover === false ? { sources: [] } : {};
  const looking = { ...where, ...placeWords(config), ...nowhere };
  let modules: Promise<readonly ReadAgent[]> | undefined;
  const found = async (): Promise<Discovery> => {
    modules ??= agentModules(settings, where.home);
    return findAgents({
      ...looking,
      ...settings.agents,
      ...agentWords(config),
      trust: trust(),
      cache,
      inline: await modules,
    });
  };
  const skills = (): Promise<Workflows<Skill>> => findSkills({ ...looking, trust: trust() });

  /** Everything a run needs, checked; nothing has happened yet when this throws. */
  const prepare: Prepare = async (
    run,
    asked,
    { strict: _strict, deck: _deck, refreshAgent = false, reuse = false, outliving, parent, ...wished },
    past = [],
    deck,
  ) => {
    const source: ModelSource = deck?.models(models) ?? models;
    const more = runWords(config, wished);
    const look = async (): Promise<Known> => {
      const discovery = await found();
      const needsSkills = [...(options.agents ?? []), ...discovery.agents.map(({ agent }) => agent)].some(usesSkills);
      return { discovery, texts: needsSkills ? (await skills()).all : [] };
    };
    let known = await look();
    const { discovery, texts } = known;
    const roster = rosterOf(options.agents ?? [], () => known);
    const plan = withNotes(asked, [...shadowNotes(asked, discovery), ...skillNotes(asked, roster, texts)]);
    const earlier = createEarlier(past, { store, refresh: refreshAgent });
    const exists = (name: string): boolean => (roster.find(name) ?? earlier.agents.named(name)) !== undefined;
    const check = (wanted: Body): void => checkAgents(wanted, exists, roster.names);
    check(plan);
    await checkModels(plan, source, (task) => task.runner ?? agentOf(task, roster)?.runner);
    if (more.budget?.maxUsd !== undefined) await models.loadPrices();
    const lingering = createLingering();
    const runner = builtinRunner({
      setup,
      code: {
        tools: new Set((options.tools ?? []).map(({ name }) => name)),
        models: new Set(Object.keys(options.models ?? {})),
      },
      prices: more.budget?.maxUsd !== undefined,
      linger: lingering.add,
      remotes,
    });
    const isolate = createIsolate({ cwd, home: env["HOME"], folder: store?.folder(run), linger: lingering.add });
    const world = await worldFor(roster, deck?.runner(runner) ?? runner, permissionsIn(past));
    const engine = makeEngine({
      perform: createPerformer({
        ...world,
        models: source,
        earlier,
        isolate,
        ...(deck && { acceptance: deck.acceptance }),
        ...(store && { reuse: createReuse(store, { always: reuse, redact: redactor.text, clock }) }),
      }),
      journal: async (id, listener) => (store ? openJournal(store.folder(id), listener) : memoryJournal(listener)),
    });
    const concurrency = more.concurrency ?? options.concurrency;
    const unattended = more.unattended ?? options.unattended;
    return {
      plan,
      engine,
      clock,
      random,
      redactor,
      version,
      cwd,
      context: plan.context ? redactor.text(await buildContext(cwd, plan.context)) : "",
      gone: async () => {
        await Promise.all([lingering.gone(), world.peers?.end()]);
        await isolate.sweep();
      },
      ...(options.permissions && { permissions: options.permissions }),
      check,
      agents: async () => {
        known = await look();
        return roster.catalog();
      },
      ...(store && { outputFile: (path: string) => store.output(run, path) }),
      ...(parent && { parent }),
      ...(outliving && { background: helpers(outliving, wished) }),
      compile: (what) => {
        const inner = compile(what);
        check(inner);
        return inner;
      },
      ...more,
      ...(concurrency !== undefined && { concurrency }),
      ...(unattended !== undefined && { unattended }),
      ...((more.name ?? plan.name) !== undefined && { name: more.name ?? plan.name ?? run }),
    };
  };

  /** Helpers of a run that outlive it; those of all runs of the crew are one, so that a later run finds them. */
  let outlivingRuns: Background | undefined;
  const helpers = ({ ended }: NonNullable<RunOptions["outliving"]>, options: RunOptions): Background => {
    const { id: _id, name: _name, continues: _continues, ...same } = options;
    outlivingRuns ??= createOutliving({
      plan: (what) => compile(what),
      run: (plan, parent) => start(plan, { ...same, parent: { ...parent, depth: 1 } }),
      ...(store && { file: store.output }),
      ...(ended && { ended }),
    });
    return outlivingRuns;
  };

  /** Hands a run to a worker. What is code in this crew cannot go there. */
  const hand = async ({ crew = {}, ...asked }: Asked): Promise<BackgroundRun> => {
    if ([options.tools, options.agents, Object.keys(options.models ?? {})].some((own) => (own ?? []).length > 0))
      throw new CrewError(
        "BAD_INPUT",
        "A crew with agents, tools or models of its own cannot work in the background.",
        "Give it `toolModules`, agent files and `providers` instead.",
      );
    const state = homeOf({ ...options, env });
    return inBackground(needed(store), {
      request: redactor.deep({ ...asked, crew: { cwd, ...(given.trusted && { trust: true }), ...crew }, at: clock() }),
      worker: { command: workerCommand(asked.id), cwd, env: { ...env, SUBCREW_HOME: state } },
      most: config.background?.maxRuns ?? DEFAULT_BACKGROUND_RUNS,
    });
  };

  const start = (what: Input | Plan | AnyInput, more: RunOptions = {}): Run => {
    const id = more.id ?? runId(random);
    return servedRun(id, store?.folder(id), async (it) => {
      const deck = more.deck?.({ cwd, redactor });
      try {
        await drive(await prepare(id, compile(what, { strict: more.strict ?? false }), more, [], deck), it);
      } finally {
        await deck?.end();
      }
    });
  };

  return {
    cwd,
    settings,
    agents: found,
    plan: (what) => compile(what),
    ...(store && { outputFile: store.output }),
    catalog: async () => catalogOf(options.agents ?? [], await found()),
    delegationTools: async (spellings, caller = {}) =>
      delegation(spellings, {
        agent: "subcrew",
        spawns: "*",
        depth: 0,
        maxDepth: config.maxDepth ?? DEFAULT_MAX_DEPTH,
        catalog: catalogOf(options.agents ?? [], await found()),
        ...caller,
      }),
    skills,
    explain: async (agent, call = { flags: {} }) => {
      const { tools, access } = await worldFor({ find: () => undefined, names: () => [] }, local);
      const { dialects } = await import("./formats/table.ts");
      const barred = access && barredBy({ tools }, access.policyFor(agent.agent));
      const options = {
        dialects,
        call,
        tools: [...tools.keys(), DELEGATION_TOOL],
        placeOf: settings.placeOf,
        ...(barred && { barred }),
      };
      return { ...explainAgent(agent, options), model: models.look(wishesOf(agent, call), "call") };
    },
    commands: () => findCommands({ ...looking, trust: trust() }),
    models: async () => (await import("./models/overview.ts")).overviewOf(models),
    runs: async () => (await store?.list()) ?? [],
    findRun: (word) => needed(store).find(word),
    record: async (id) => (await readJournal(needed(store).folder(id))).events.reduce(reduce, emptyState(id)),
    run: start,
    resume: (id, more = {}) => servedRun(id, store?.folder(id), async (it) => takeUp(needed(store), it, more, prepare)),
    background: async (what, more = {}, worker = {}) => {
      const id = runId(random);
      const plan = compile(what, { strict: more.strict ?? false });
      await prepare(id, plan, more); // whatever is wrong with it is said here and now
      return hand({ id, plan, options: more, ...worker });
    },
    resumeInBackground: async (id, more = {}, worker = {}) => {
      if (await isOwned(needed(store).folder(id))) throw busy(id);
      return hand({ id, options: more, ...worker });
    },
    continuing: (task) => continuing(needed(store), { ...config.resume, ...task, now: clock() } as Continuing),
    get kept() {
      return keptRuns(needed(store));
    },
  };
}

type Asked = WorkerOptions & Readonly<{ id: string; plan?: Plan; options: ResumeOptions }>;

const busy = (id: string): CrewError =>
  new CrewError("RUN_BUSY", `Another process is working on "${id}".`, `See \`subcrew status ${id}\`.`);

type Prepare = (
  run: string,
  plan: Plan,
  options: RunOptions,
  past?: readonly KeptEvent[],
  deck?: Deck,
) => Promise<Start>;

/** Goes on where the journal of a run ends; a run that ended is only told again. */
async function takeUp(
  store: Store,
  it: Parameters<typeof drive>[1],
  { retryFailed = false, ...more }: ResumeOptions,
  prepare: Prepare,
): Promise<void> {
  const folder = store.folder(it.run);
  const { events } = await readForResume(folder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? new CrewError("UNKNOWN_RUN", `There is no run "${it.run}".`, "See `subcrew runs` for those that were kept.")
      : error;
  });
  const started = events[0];
  if (started?.type !== "run.started")
    throw new CrewError("RUN_DAMAGED", `The run "${it.run}" stopped before it began.`, "Start it again.");
  const last = events.findLast(({ type }) => type === "run.ended");
  const over =
    last?.type === "run.ended" &&
    last.seq === events.length &&
    (last.outcome.status === "ok" || (last.outcome.status === "failed" && !retryFailed));
  if (over) return events.forEach(it.publish);
  const start = await prepare(it.run, started.plan, more, events);
  await drive({ ...start, ...(started.name !== undefined && { name: started.name }), takesUp: { retryFailed } }, it);
}

/** What a run was allowed when it was started. */
function permissionsIn([started]: readonly KeptEvent[]): Permissions | undefined {
  return started?.type === "run.started" ? started.permissions : undefined;
}

function settingsFor(given: CrewOptions["config"], where: Omit<LoadConfigOptions, "read">): LoadedConfig {
  if (given === true) return readSettings(where);
  return given === undefined ? noConfig : { ...noConfig, ...settleConfig({ user: given }) };
}

/** The options that can be written down; what is code, and what was used to find agents, stays here. */
function setupOf(options: CrewOptions, where: Pick<Setup, "cwd" | "env">): Setup {
  const { agents: _a, tools: _t, models: _m, clock: _c, random: _r, config: _s, ...written } = options;
  return { ...written, ...where };
}

/** The agents of the modules that the user named; a path starts from the file that names it. */
async function agentModules({ config, placeOf }: LoadedConfig, home: string): Promise<readonly ReadAgent[]> {
  if (config.modules === undefined) return [];
  const { loadAgentModule } = await import("./formats/module.ts");
  const folder = dirname(placeOf("modules")?.file ?? resolve("settings"));
  const files = config.modules.map((file) => resolve(folder, file.replace(/^~(?=\/)/, home)));
  return (await Promise.all(files.map(loadAgentModule))).flat();
}

function needed(store: Store | undefined): Store {
  if (store) return store;
  throw new CrewError("UNKNOWN_RUN", "This crew keeps no runs, so none can be resumed.", "Give it a `home`.");
}

function wishesOf({ agent }: FoundAgent, { model }: ExplainedCall): readonly ModelWish[] {
  return [
    ...(model === undefined ? [] : [{ by: "call" as const, names: model }]),
    ...(agent.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
  ];
}

/** What was found when somebody looked last. */
type Known = Readonly<{ discovery: Discovery; texts: readonly Skill[] }>;

function rosterOf(given: readonly Agent[], known: () => Known): Roster & Required<Pick<Roster, "catalog">> {
  return {
    find: (name) => {
      const { discovery: found, texts } = known();
      const agent = given.find((one) => one.name === name) ?? findAgent(found, name)?.agent;
      if (agent) return withSkills(agent, texts);
      if (found.untrusted.some((one) => one.name === name)) {
        const hint = "Look at it with `subcrew agents show`, then trust the project with `subcrew trust`.";
        throw new CrewError("UNTRUSTED", `The agent "${name}" belongs to this project, which is not trusted.`, hint);
      }
      if (found.disabled.some((one) => one.name === name))
        throw new CrewError(
          "DISABLED",
          `The agent "${name}" is switched off.`,
          `\`subcrew agents enable ${name}\` switches it on.`,
        );
      return undefined;
    },
    names: () => [...new Set([...given, ...known().discovery.agents].map(({ name }) => name))],
    catalog: () => catalogOf(given, known().discovery),
  };
}

/** What models see of the agents: each name once, the strongest first. */
export function catalogOf(given: readonly Agent[], { agents, disabled }: Discovery): Catalog {
  const all = [...given, ...agents.map(({ agent }) => agent)];
  const first = new Map(all.toReversed().map((agent) => [agent.name, agent]));
  return {
    agents: all.filter((agent) => first.get(agent.name) === agent).map(cardOf),
    disabled: disabled.map(({ name }) => name),
  };
}

/** A model that a task names has to exist before anything starts; the default one, when some task names none. */
async function checkModels(
  body: Body,
  models: ModelSource,
  runnerOf: (task: Task) => RunnerName | undefined,
): Promise<void> {
  const asked = new Map<string, readonly ModelWish[]>();
  for (const node of Object.values(body.nodes)) {
    if (node.kind === "loop") await checkModels(node.body, models, runnerOf);
    if (node.kind !== "task" || isForeign(runnerOf(node.task))) continue; // that tool knows its models itself
    const { model } = node.task;
    asked.set([model ?? ""].flat().join(), model === undefined ? [] : [{ by: "call", names: model }]);
  }
  for (const wishes of asked.values()) {
    const found = await models.choose(wishes, { binding: "call" });
    if ("misses" in found) throw noModel(found.misses);
  }
}
