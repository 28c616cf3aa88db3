import type { Catalog } from "../delegation/catalog.ts";
import type { Spawns } from "../vocabulary/spawn-list.ts";
import type { ImageContent } from "../model/images.ts";
import type { Message } from "../model/model.ts";
import type { FailedOutcome, Outcome, ReadOutcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import type { AnyInput } from "../plan/input.ts";
import type { Worktree } from "../plan/isolation.ts";
import type { Plan } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import type { Policy } from "../policy/policy.ts";
import type { Budget } from "../run/budget.ts";
import type { Delta, Fact, KeptEvent, Parking, ParkRules } from "../run/event.ts";
import type { Receipt } from "../run/run-command.ts";
import type { Journal, JournalListener } from "../run/run-store.ts";
import type { ForkPoint } from "./fork-point.ts";
import type { WorkspaceSnapshot } from "./workspace-snapshot.ts";

/** One unit of work as JSON, with a unique key: it can run in this process or on any worker. */
export type Call = Readonly<{
  run: string;
  path: string;
  attempt: number;
  /** The task with every reference filled in. */
  task: Task;
  /** Outputs of other nodes that are attached to the task. */
  attachments: readonly Attachment[];
  /** Context that all tasks of the run share. */
  context: string;
  /** Delegation depth of this task, and the maximum depth; negative or absent: unlimited. */
  depth: number;
  maxDepth?: number;
  /** Upper bound of its tools, set by the run or the parent agent. */
  ceiling?: readonly string[];
  /** The tools it had before it was interrupted: resuming adds none. */
  recordedRights?: readonly string[];
  /** The model on which an earlier process began this attempt. */
  recordedModel?: string;
  /** Policy of the parent task; absent for tasks that a person started. */
  policy?: Policy;
  /** Model of the parent task, used for `inherit`. */
  parentModel?: string;
  /** Worktree of this task or of its parent. */
  worktree?: Worktree;
  /**
   * Set if the parent task works in a copy of the workspace: the path under which its files are stored. The task starts
   * with those files and returns its changes to them.
   */
  filesOf?: string;
  /** This task reviews another task: its result is a verdict. */
  review?: true;
  /** The task of this run whose conversation this one continues: path, prompt and result. */
  resumes?: Readonly<{ path: string; prompt: string; output: string }>;
  /** The images beside its prompt. */
  images?: readonly ImageContent[];
  /** The conversation that this task continues. */
  before?: readonly Message[];
  /**
   * The conversation of the parent agent, which this task may start from. Once the agent of the task is resolved: set
   * only if it does.
   */
  fork?: ForkPoint;
}>;

/** The output of another node: its name, its path in the run, and the text. */
export type Attachment = Readonly<{ title: string; path: string; text: string }>;

/** The properties that an agent passes on to its helpers. `inherit` means its model. */
export type Parent = Readonly<{
  /** The agents that it may start. */
  spawns: Spawns;
  /** Upper bound of their tools; absent: those of their own definitions. */
  ceiling?: readonly string[];
  model: string;
  /** The policy that judges its calls. */
  policy?: Policy;
  /** The worktree it works in, if any. */
  worktree?: Worktree;
  /**
   * Set if it works in a copy of the workspace that helpers on other machines cannot reach: the path under which its
   * files are stored.
   */
  filesOf?: string;
  /** Its conversation, for helpers that start from it. */
  conversation?: ForkPoint;
  /** The tasks above, as `run/path`, for a plan that becomes a run of its own. */
  above?: readonly string[];
}>;

/** Outcome of a delegated plan, and of each of its nodes by id. */
export type DelegationOutcome = Outcome &
  Readonly<{
    /** Path prefix of the nodes, and the run id when the plan is a separate run. */
    under?: string;
    run?: string;
    nodes?: Readonly<Record<string, Outcome>>;
  }>;

/** The outcome of a delegation, for the agent that requested it. */
export type ReadDelegation = ReadOutcome &
  Omit<DelegationOutcome, "nodes"> &
  Readonly<{ nodes?: Readonly<Record<string, ReadOutcome>> }>;

/** A plan that runs in the background: its path, and the output file of each task. */
export type StartedNode = Readonly<{
  /** The key by which the agent asks about it. */
  key: string;
  under: string;
  run?: string;
  files: Readonly<Record<string, string>>;
}>;

/** The message to an agent when its background helpers have ended: the full result, or only a notice. */
export type HelperNotice = "result" | "ending";

/** Background helpers; they end with the task that started them. */
export type UnawaitedHelpers = Readonly<{
  /** Helpers that end send no message, because there is no conversation to receive it. */
  silent?: true;
  start(what: AnyInput | Plan, parent: Parent, tells: HelperNotice): Promise<StartedNode | FailedOutcome>;
  /** Waits until they end; `undefined`: there are none, or the signal aborted first. */
  ended(key: string, signal: AbortSignal): Promise<DelegationOutcome | undefined>;
  /** Stops them; false: they have already ended, or there are none. */
  stop(key: string, reason: string): Promise<boolean>;
}>;

/** How a task parks until its provider, its budget or a person lets it continue. */
export type Parks = ParkRules &
  Readonly<{
    /**
     * Records why the task waits and gives its slot back until `wait` resolves with what ended the wait. False: it was
     * stopped meanwhile.
     */
    park(why: Parking, wait: (signal: AbortSignal) => Promise<string>): Promise<boolean>;
  }>;

/** The interface between a running task and its run. */
export type PerformContext = Readonly<{
  signal: AbortSignal;
  emit(fact: Fact): void;
  live(delta: Delta): void;
  /** Resolves once all emitted events are durable. */
  durable(): Promise<void>;
  /** Runs a plan below this call; its tasks inherit from `parent` and end with the call or with `stop`. */
  delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<DelegationOutcome>;
  /** Absent where background tasks are not supported. */
  background?: UnawaitedHelpers;
  /** The currently available agents; absent where discovery is not possible. */
  agents?(): Promise<Catalog>;
  /** Sends a message to another task of the run; the receipt names the reader or the reason for the failure. */
  send?(to: string, text: string): Promise<Receipt>;
  /** The remaining budget of the run and of all runs below it. */
  budget: Pick<Budget, "reserve" | "count" | "room">;
  /** Absent: the task fails instead of waiting for a provider, a quota or a higher limit. */
  parks?: Parks;
  /** Waits until it is decided whether this task's changes are used: false when a join picked another task. */
  claim?(): Promise<boolean>;
  /** True when a person can be asked to approve calls. */
  attended: boolean;
  /** Asks for approval of one call, or for an answer in words, and waits; `undefined` when nobody is available or the signal aborts first. */
  ask(
    question: string,
    about: Readonly<{ call: string; wants?: "words"; offersNetwork?: true; signal: AbortSignal }>,
  ): Promise<Answer | undefined>;
  /** Messages to this task since its last turn. With a signal, waits for a message of its background helpers, if there are any. */
  mail(wait?: AbortSignal): Promise<readonly string[]>;
  /** Calls back when an urgent message arrives during a turn; returns a function that unsubscribes. */
  onUrgent?(rung: () => void): () => void;
  /** Sends a message to the parent task, or to the person. */
  tell(text: string): void;
  /** Stores the conversation for a later task of this run that continues it. */
  remember?(messages: readonly Message[]): void;
  /**
   * Events of this attempt that were recorded so far, in order; empty for a new attempt. Each performer asks once, when it
   * begins: one that replaces a dead performer continues from the recorded turns.
   */
  past(): Promise<readonly KeptEvent[]>;
  /**
   * A snapshot of the workspace's current files, for a machine that does not have them. `have`: commits that the
   * machine has, if it also needs the commits since then. Absent where the files are available.
   */
  workspace?(have?: readonly string[]): Promise<WorkspaceSnapshot | Readonly<{ unable: string }>>;
  /** Calls the cassette that the run records or replays; absent without one, and where the task can use it directly. */
  tape?(method: string, values: readonly unknown[]): Promise<object | undefined>;
}>;

/**
 * Performs one call. It never throws: failures are outcomes. Once the signal aborts it returns soon, whatever
 * its tools still do: a run ends when all its calls have.
 */
export type Perform = (call: Call, context: PerformContext) => Promise<Outcome>;

/**
 * Where calls and waits live: in this process, or on a durable engine with many workers.
 * `perform` is idempotent per (run, path, attempt): same key, same outcome, one performer. So a coordinator
 * that comes back after a crash folds the journal, decides again, and asks for the same keys.
 */
export type Engine = Readonly<{
  perform: Perform;
  sleep(key: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Opens a question and waits for its answer; `undefined` when the signal aborts first. */
  answer(key: string, signal: AbortSignal): Promise<Answer | undefined>;
  /** Answers an open question; false when there is none or it was already answered. */
  give(key: string, answer: Answer): Promise<boolean>;
  /** The journal of a run, and its listeners. */
  journal(run: string, listener: JournalListener): Promise<Journal>;
}>;
