import type { Skill, WorkflowCommand } from "../core/agent/skill.ts";
import type { Catalog } from "../core/delegation/catalog.ts";
import type { Caller } from "../core/delegation/spawn.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { State } from "../core/run/state.ts";
import type { OutputOf, StandardSchema } from "../core/schema/standard-schema.ts";
import type { Tool } from "../core/task/tool.ts";
import type { BackgroundRun, BackgroundOptions } from "./background.ts";
import type { Explanation } from "./explain/explain.ts";
import type { ExplainedCall } from "./explain/explain-agent.ts";
import type { ChangeReport, ChangeSelection } from "./run-changes.ts";
import type { ResumeOptions, RunOptions } from "./prepare/run-options.ts";
import type {
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
} from "./run-input.ts";
import type { Workflows } from "../defaults.ts";
import type { ModelOverview } from "../models/registry/overview.ts";
import type { CrewSetup } from "./outfit/setup.ts";
import type { UndoneFile } from "../runtime/changes/undo-changes.ts";
import type { KeptRuns } from "../runtime/background/stored-runs.ts";
import type { Discovery, FoundAgent } from "../runtime/discovery/discover.ts";
import type { ContinuedTask, ContinueOptions } from "../runtime/resume/continue-task.ts";
import type { RecordedRun } from "../runtime/resume/recorded-run.ts";
import type { Run } from "../runtime/run/run.ts";
import type { RunHandle } from "./run-handle.ts";
import type { LoadedConfig } from "../runtime/settings/load-config.ts";

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
  /**
   * A run by its id, whichever process works on it: to see its state, events and result, to answer and message its
   * tasks, to pause, cancel, kill, retry, resume and change it. `signal` ends the view, not the run.
   */
  open(id: string, options?: Readonly<{ signal?: AbortSignal }>): RunHandle;
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
export type Starter<Data> = {
  // This signature is the first, because TypeScript infers the task ids as literal types only from the first one it
  // tries.
  <const T extends TeamTasks>(what: TypedTeam<T>, options?: RunOptions): Run<NamedData<T>>;
  <S extends StandardSchema>(what: TypedTask<S> | TypedRace<S> | TypedChain<S>, options?: RunOptions): Run<OutputOf<S>>;
  <S extends Schemas>(what: TypedParallel<S>, options?: RunOptions): Run<ListedData<S>>;
  <Name extends keyof Data & string>(what: TaskFor<Name>, options?: RunOptions): Run<Data[Name]>;
  (what: RunInput | Plan, options?: RunOptions): Run;
};
