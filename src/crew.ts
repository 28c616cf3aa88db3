import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Agent } from "./core/agent/agent.ts";
import { withCanonicalTools } from "./core/agent/canonical-tools.ts";
import type { Skill, WorkflowCommand } from "./core/agent/skill.ts";
import { secretsInAgents } from "./core/secrets/secrets-in-agents.ts";
import type { AgentCard, Catalog } from "./core/delegation/catalog.ts";
import type { Caller } from "./core/delegation/spawn.ts";
import type { Plan } from "./core/plan/plan.ts";
import type { State } from "./core/run/state.ts";
import type { OutputOf, StandardSchema } from "./core/schema/standard-schema.ts";
import type { Tool } from "./core/task/tool.ts";
import { defined } from "./core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "./core/vocabulary/limits.ts";
import { type BackgroundRun, createLaunch, type BackgroundOptions } from "./crew/background.ts";
import { type Explanation, explainFor } from "./crew/explain/explain.ts";
import type { ExplainedCall } from "./crew/explain/explain-agent.ts";
import { checkCrewOptions, checkRunOptions } from "./crew/check-options.ts";
import { createFinds } from "./crew/finds.ts";
import type { ChangeReport, ChangeSelection } from "./crew/run-changes.ts";
import { catalogOf, isOwnTool } from "./crew/prepare/known-agents.ts";
import type { CrewOptions } from "./crew/options.ts";
import { detachedHelpers } from "./crew/detached-helpers.ts";
import { createPrepare } from "./crew/prepare/prepare.ts";
import type { ResumeOptions, RunOptions } from "./crew/run-options.ts";
import type {
  DataByAgent,
  ListedData,
  NamedData,
  RunInput,
  Schemas,
  TaskFor,
  TeamTasks,
  TypedChain,
  TypedParallel,
  TypedRace,
  TypedTask,
  TypedTeam,
} from "./crew/run-input.ts";
import { schemasIn } from "./crew/schemas-in.ts";
import { settingsFor, setupOf, withSettings } from "./crew/settings.ts";
import { remoteAgents, type Workflows } from "./defaults.ts";
import type { ModelOverview } from "./models/registry/overview.ts";
import { compile } from "./modes/compile.ts";
import { type CrewSetup, createOutfit, homeOf, type SharedEngine } from "./outfit.ts";
import type { UndoneFile } from "./runtime/changes/undo-changes.ts";
import { type KeptRuns, keptRuns } from "./runtime/background/stored-runs.ts";
import type { Discovery, FoundAgent, Trust } from "./runtime/discovery/discover.ts";
import { projectTrust } from "./runtime/settings/project-trust.ts";
import { type ContinuedTask, type ContinueOptions, continueTask } from "./runtime/resume/continue-task.ts";
import { type RecordedRun, readRecordedRun } from "./runtime/resume/recorded-run.ts";
import { resumedPart } from "./runtime/resume/resume-run.ts";
import { features } from "./crew/features.ts";
import { drive } from "./runtime/features/drive.ts";
import { type Driver, Run } from "./runtime/run/run.ts";
import type { LoadedConfig } from "./runtime/settings/load-config.ts";
import { foldWhole } from "./runtime/store/fold-journal.ts";
import { runId, runNamed } from "./runtime/store/run-id.ts";

/**
 * The composition root: every interface (command line, MCP server, web page, ...) creates a crew and starts runs with
 * it.
 */
export type Crew<Data = object> = Readonly<{
  /**
   * Starts a run. With a schema, or with an agent that has an output schema, `data` of the result has its type. A
   * mistake in the input or the options rejects the run with a `CrewError` before anything happens.
   */
  run: Starter<Data>;
  /**
   * Resumes a run that was paused, parked (waiting for a provider that refuses requests) or interrupted; for an ended
   * run, returns its result.
   */
  resume(run: string | RecordedRun, options?: ResumeOptions): Run;
  /**
   * Starts a run in a process that outlives this process, and resolves once the run has started. Its questions wait in
   * the inbox. A faulty input throws an error, before anything runs.
   */
  background(
    what: RunInput | Plan,
    options?: Omit<RunOptions, "signal">,
    more?: BackgroundOptions,
  ): Promise<BackgroundRun>;
  /** Resumes a run in the background. */
  resumeInBackground(id: string, options?: ResumeOptions, more?: BackgroundOptions): Promise<BackgroundRun>;
  /** The stored runs: to inspect them, send them messages, wait for them and delete them. */
  kept: KeptRuns;
  /** The plan of a run that continues an ended task with its conversation, agent, model and permissions. */
  continuing(task: Omit<ContinueOptions, "now">): Promise<ContinuedTask>;
  /** All currently available agents, and the changes since the last call. */
  agents(): Promise<Discovery>;
  /** A JSON value without the secrets that this crew knows: secrets in variables, settings and agents. */
  masked<T>(value: T): T;
  /** Compiles an input to a plan. */
  plan(what: RunInput | Plan): Plan;
  /** A file of this machine that has the output of a node, or will have it; `undefined`: this crew creates no files. */
  outputFile(run: string, path: string): Promise<string | undefined>;
  /** The catalog of agents that a model reads before it starts one of them, including the agents passed in code. */
  catalog(): Promise<Catalog>;
  /**
   * Delegation tools for a caller that is not a task of a run, with descriptions of the current agents; see
   * `openDelegation`.
   */
  delegationTools(spellings: readonly string[], caller?: Partial<Caller>): Promise<readonly Tool[]>;
  /** All currently available skills and workflow commands. */
  skills(): Promise<Workflows<Skill>>;
  commands(): Promise<Workflows<WorkflowCommand>>;
  /** An agent as it would run with these call options, and the origin of each value; secrets are masked. */
  explain(found: FoundAgent, call?: ExplainedCall): Promise<Explanation>;
  /** The effective settings, and the source of each. */
  settings: LoadedConfig;
  /** How model names resolve, and which providers can be used; with `probe` each provider is asked for its models. */
  models(options?: Readonly<{ probe?: AbortSignal }>): Promise<ModelOverview>;
  /** The ids of the stored runs, newest first. */
  runs(): Promise<readonly string[]>;
  /** The id of a run, from an id, the beginning of an id, or a name. */
  findRun(word: string): Promise<string>;
  /** The changes of a run or of one task: each file with its diff. */
  changes(id: string, selection?: ChangeSelection): Promise<ChangeReport>;
  /** Restores the files that a run changed, except those changed since; `dryRun` only reports what it would do. */
  undo(
    id: string,
    options?: ChangeSelection & Readonly<{ dryRun?: boolean }>,
  ): Promise<readonly (UndoneFile & Readonly<{ name: string }>)[]>;
  /** The state of a run, computed from its records. */
  record(id: string): Promise<State>;
  cwd: string;
  /** The JSON options of this crew with some of them replaced; a worker process creates its own crew from them. */
  setupFor(changes: Partial<CrewSetup>): CrewSetup;
}>;

/** Functions that start a run. If the input or its agents have a schema, the type of the result follows from it. */
type Starter<Data> = {
  // This signature is the first, because TypeScript infers the task ids as literal types only from the first one it
  // tries.
  <const T extends TeamTasks>(what: TypedTeam<T>, options?: RunOptions): Run<NamedData<T>>;
  <S extends StandardSchema>(what: TypedTask<S> | TypedRace<S> | TypedChain<S>, options?: RunOptions): Run<OutputOf<S>>;
  <S extends Schemas>(what: TypedParallel<S>, options?: RunOptions): Run<ListedData<S>>;
  <Name extends keyof Data & string>(what: TaskFor<Name>, options?: RunOptions): Run<Data[Name]>;
  (what: RunInput | Plan, options?: RunOptions): Run;
};

/** Creates a crew. It shares no state with other crews in the process. */
export function createCrew<const Agents extends readonly Agent[] = readonly []>(
  given: CrewOptions<Agents> = {},
  shared: SharedEngine = {},
): Crew<DataByAgent<Agents>> {
  checkCrewOptions(given);
  const cwd = resolve(given.cwd ?? process.cwd());
  const env = given.env ?? process.env;
  const state = homeOf({ ...given, env });
  const where = { cwd, home: given.userHome ?? env["HOME"] ?? homedir() };
  const trust = (permissions = given.permissions): Trust => projectTrust({ ...given, permissions, cwd, env, state });
  const settings = settingsFor(given.config, { ...where, state, env, trust: trust() });
  const { config } = settings;
  const isOwn = isOwnTool(given.tools);
  const options = withSettings(
    { ...given, ...(given.agents && { agents: given.agents.map((agent) => withCanonicalTools(agent, isOwn)) }) },
    settings,
  );
  const setup = setupOf(options, { cwd, env });
  const outfit = createOutfit(setup, { ...options, ...shared, skills: async () => (await skills()).all });
  const { models, redactor, store, clock, random } = outfit;
  const learn = (known: readonly Agent[]): void => redactor.learn(secretsInAgents(known, env));
  learn(options.agents ?? []);
  const finds = createFinds({
    ...where,
    anywhere: options.discover !== false,
    settings,
    trust: () => trust(options.permissions),
    learn,
  });

  const start = (what: RunInput | Plan, more: RunOptions = {}): Run => {
    checkRunOptions(more);
    const id = more.id ?? runId(random);
    const driver: Driver = async (it) => {
      const deck = more.deck?.({ cwd, redactor });
      try {
        const plan = compile(what, { strict: more.strict ?? false, ...defined({ references: config.references }) });
        await drive(features, await prepare({ run: id, plan, options: more, deck }), it);
      } finally {
        await deck?.end();
      }
    };
    return new Run(id, driver, { signal: more.signal, schema: schemasIn(what, options.agents) });
  };
  const prepare = createPrepare({
    options,
    config,
    setup,
    outfit,
    finds,
    remotes: remoteAgents({ ...setup, home: setup.home === false ? undefined : state }),
    helpers: detachedHelpers(start, { file: (run, path) => store.file(run, path) }),
  });
  const launch = createLaunch({ options, config, setup, outfit });

  /**
   * The catalog of agents. Its descriptions contain no known secret, because they are sent to models and to callers on
   * other machines.
   */
  const catalog = async (): Promise<Catalog> => {
    const { agents, otherScopes, ...rest } = catalogOf(options.agents ?? [], await finds.agents());
    const clean = <T extends AgentCard>(card: T): T => ({ ...card, description: redactor.known(card.description) });
    return { ...rest, agents: agents.map(clean), ...(otherScopes && { otherScopes: otherScopes.map(clean) }) };
  };
  /** Skills and commands without known secrets, which are sent to models and to MCP clients, too. */
  const withoutSecrets = <T extends WorkflowCommand>({ all, ...rest }: Workflows<T>): Workflows<T> => ({
    ...rest,
    all: all.map((each) => ({
      ...each,
      ...redactor.knownDeep(
        defined({ description: each.description, instructions: each.instructions, argumentHint: each.argumentHint }),
      ),
    })),
  });
  const skills = async (): Promise<Workflows<Skill>> => withoutSecrets(await finds.skills());
  return {
    cwd,
    setupFor: (changes) => ({ ...setup, ...changes }),
    settings,
    agents: finds.agents,
    masked: redactor.knownDeep,
    plan: (what) => compile(what, defined({ references: config.references })),
    outputFile: (run, path) => store.file(run, path),
    catalog,
    delegationTools: async (spellings, caller = {}) =>
      outfit.delegation(spellings, {
        agent: "subcrew",
        spawns: "*",
        depth: 0,
        maxDepth: config.maxDepth ?? DEFAULT_MAX_DEPTH,
        catalog: await catalog(),
        ...caller,
      }),
    skills,
    commands: async () => withoutSecrets(await finds.commands()),
    explain: async (agent, call = { flags: {} }) => {
      const explained = await explainFor(agent, call, { outfit, setup, settings });
      return { ...explained, fields: redactor.knownDeep(explained.fields) };
    },
    models: async ({ probe } = {}) => {
      const { overviewOf, probedOverview } = await import("./models/registry/overview.ts");
      return probe ? probedOverview(models, probe) : overviewOf(models);
    },
    runs: () => store.list(),
    findRun: (word) => runNamed(store, word),
    changes: async (id, selection) => (await import("./crew/run-changes.ts")).reportChanges(outfit, id, selection),
    undo: async (id, more) => (await import("./crew/run-changes.ts")).undoRun(store, id, more),
    record: (id) => foldWhole(store, id),
    run: start as Starter<DataByAgent<Agents>>,
    resume: (run, { retryFailed = false, task, force = false, ...more } = {}) => {
      checkRunOptions(more);
      const id = typeof run === "string" ? run : run.id;
      const driver: Driver = async (it) => {
        const recorded = typeof run === "string" ? await readRecordedRun(store, id) : run;
        const rest = resumedPart(recorded, { retryFailed, ...defined({ task }) });
        if (!rest) return recorded.records.events.forEach(it.publish);
        const prepared = await prepare({ run: id, plan: rest.plan, options: more, recorded, force });
        await drive(features, { ...prepared, resume: rest.resume }, it);
      };
      return new Run(id, driver, { signal: more.signal });
    },
    background: async (what, more = {}, given = {}) => {
      const id = runId(random);
      const plan = compile(what, { strict: more.strict ?? false, ...defined({ references: config.references }) });
      // a faulty input throws in this process, before the background process is started
      await prepare({ run: id, plan, options: more });
      return launch({ id, plan, options: more, ...given });
    },
    resumeInBackground: (id, more = {}, given = {}) => launch({ id, options: more, ...given }),
    continuing: (task) => continueTask(store, { ...config.resume, ...task, now: clock() } as ContinueOptions),
    kept: keptRuns(store),
  };
}
