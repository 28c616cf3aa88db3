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
import type { Delta, Fact, KeptEvent, Parking, ParkRules, RunEnvironment } from "../run/event.ts";
import type { Journal, JournalListener } from "../run/run-store.ts";
import type { ForkPoint } from "./fork-point.ts";
import type { WorkspaceSnapshot } from "./workspace-snapshot.ts";

/** A request to execute one task, as JSON with a unique key: it can be executed in this process or on any worker. */
export type Call = Readonly<{
  run: string;
  path: string;
  attempt: number;
  /** The task with every reference in its prompt filled in. */
  task: Task;
  /** Outputs of other nodes that are attached to the task. */
  attachments: readonly Attachment[];
  /** Context that all tasks of the run share. */
  context: string;
  /** The date and the state of the repository at the start of the run; absent: the task is told the present date. */
  environment?: RunEnvironment;
  /** Delegation depth of this task, and the maximum depth; negative or absent: unlimited. */
  depth: number;
  maxDepth?: number;
  /** Upper bound of the task's tools, set by the run or the parent agent. */
  ceiling?: readonly string[];
  /** The tools that the task had before it was interrupted. Resuming does not add tools. */
  recordedRights?: readonly string[];
  /** The model with which an earlier process began this attempt. */
  recordedModel?: string;
  /** The permission policy of the parent task; absent for tasks that a person started. */
  policy?: Policy;
  /** Model of the parent task, used for `inherit`. */
  parentModel?: string;
  /** Worktree of this task or of its parent. */
  worktree?: Worktree;
  /**
   * Set if the parent task works in a copy of the workspace: its stored files. The task starts with those files and
   * returns its changes to them.
   */
  filesOf?: FilesOf;
  /** True: this task reviews another task; its result is a verdict. */
  review?: true;
  /** The task of the same run whose conversation this task continues: its path, prompt and result. */
  resumes?: Readonly<{ path: string; prompt: string; output: string }>;
  /** The images beside the task's prompt. */
  images?: readonly ImageContent[];
  /** The messages of the conversation that this task continues. */
  before?: readonly Message[];
  /** The output files that the continued conversation named. */
  readable?: readonly string[];
  /**
   * The conversation of the parent agent, which this task may start from. Once the task's agent is known, it is set
   * only if the task does start from it.
   */
  fork?: ForkPoint;
}>;

/** The stored files of a task: the path of its attempt, and the hash of the text. */
export type FilesOf = Readonly<{ task: string; hash: string }>;

/** A subagent whose changes its parent task applies: the path of its attempt, and the hash of its stored changes. */
export type ReturnedChanges = Readonly<{ path: string; hash: string }>;

/** The output of another node: its name, its path in the run, and the text. */
export type Attachment = Readonly<{ title: string; path: string; text: string }>;

/**
 * The properties of a task that are inherited by the agents that it starts, or that limit them. `inherit` in the
 * definitions of these agents means the model of the task.
 */
export type Parent = Readonly<{
  /** The agents that the task may start. */
  spawns: Spawns;
  /** Upper bound of the tools of started agents; absent: each has the tools of its own definition. */
  ceiling?: readonly string[];
  model: string;
  /** How many characters of results the model can read at once. */
  resultChars?: number;
  /** The permission policy that judges the task's tool calls. */
  policy?: Policy;
  /** The worktree that the task works in, if any. */
  worktree?: Worktree;
  /**
   * Set if the task works in a copy of the workspace that subagents on other machines cannot reach: the hash of its
   * stored files.
   */
  filesOf?: string;
  /** The task's conversation, for subagents that start from it. */
  conversation?: ForkPoint;
  /** The parent tasks, as `run/path`, set for a plan that becomes a separate run. */
  above?: readonly string[];
}>;

/** The outcome of a plan that an agent started, and of each of the plan's nodes by id. */
export type DelegationOutcome = Outcome &
  Readonly<{
    /** Path prefix of the nodes, and the run id when the plan is a separate run. */
    under?: string;
    run?: string;
    nodes?: Readonly<Record<string, Outcome>>;
  }>;

/** The outcome of a plan that an agent started, in the form that the agent reads. */
export type ReadDelegation = ReadOutcome &
  Omit<DelegationOutcome, "nodes"> &
  Readonly<{ nodes?: Readonly<Record<string, ReadOutcome>> }>;

/** A plan that an agent started in the background: its path, and the output file of each task. */
export type StartedNode = Readonly<{
  /** The key by which the agent asks about the plan. */
  key: string;
  under: string;
  run?: string;
  files: Readonly<Record<string, string>>;
}>;

/**
 * Whether background subagents end with the task that started them (`result`), or continue after its run where that is
 * possible (`ending`). Either way their result is reported.
 */
export type HelperNotice = "result" | "ending";

/** Subagents that run in the background. Their end is reported to the task that started them, with their result. */
export type UnawaitedHelpers = Readonly<{
  /** True: subagents that end send no message, because there is no conversation to receive it. */
  silent?: true;
  start(what: AnyInput | Plan, parent: Parent, tells: HelperNotice): Promise<StartedNode | FailedOutcome>;
  /**
   * Waits until the subagents with this key end; `undefined`: there are no such subagents, or the signal aborted first.
   */
  ended(key: string, signal: AbortSignal): Promise<DelegationOutcome | undefined>;
  /** Stops the subagents with this key; false: they have already ended, or there are none. */
  stop(key: string, reason: string): Promise<boolean>;
}>;

/** How a task parks, that is, waits until its provider, its budget or a person lets it continue. */
export type Parks = ParkRules &
  Readonly<{
    /**
     * Records why the task waits and gives its slot to other tasks until `wait` resolves with the reason why the wait
     * ended. False: the task was stopped meanwhile.
     */
    park(why: Parking, wait: (signal: AbortSignal) => Promise<string>): Promise<boolean>;
  }>;

/** The services of a run that a running task uses: events, delegation, questions, messages and budget. */
export type PerformContext = Readonly<{
  signal: AbortSignal;
  emit(fact: Fact): void;
  live(delta: Delta): void;
  /** Resolves once all emitted events are safely stored. */
  durable(): Promise<void>;
  /**
   * Executes a plan for this task; the plan's tasks inherit from `parent` and end when this task ends or `stop` aborts.
   */
  delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<DelegationOutcome>;
  /** Starts and watches background tasks; absent where they are not supported. */
  background?: UnawaitedHelpers;
  /** The currently available agents; absent where agents cannot be searched. */
  agents?(): Promise<Catalog>;
  /** Sends a message to another task of the run; the receipt names the reader or the reason for the failure. */
  send?(to: string, text: string): Promise<Delivery>;
  /** The remaining budget of the run and of all its nested runs. */
  budget: Pick<Budget, "reserve" | "count" | "room">;
  /** Lets the task park (wait); absent: the task fails instead of waiting for a provider, a quota or a higher limit. */
  parks?: Parks;
  /** Waits until it is decided whether the changes of this task of a race are used: false when another task won. */
  claim?(): Promise<boolean>;
  /** True when a person can be asked to approve tool calls. */
  attended: boolean;
  /**
   * Asks for approval of one tool call, or for an answer in words, and waits; `undefined` when no person is available
   * or the signal aborts first.
   */
  ask(
    question: string,
    about: Readonly<{
      call: string;
      wants?: "words";
      offersNetwork?: true;
      /** True: the approval cannot be given in advance: an agent file asks, or the line mentions what a deny rule names. */
      inPerson?: true;
      signal: AbortSignal;
    }>,
  ): Promise<Answer | undefined>;
  /**
   * The messages that arrived for this task since its last turn. With a signal, waits for a message of its background
   * subagents, if there are any.
   */
  mail(wait?: AbortSignal): Promise<readonly string[]>;
  /** Calls back when an urgent message arrives during a turn; returns a function that unsubscribes. */
  onUrgent?(rung: () => void): () => void;
  /** Sends a message to the parent task, or to the person. */
  tell(text: string): void;
  /** Stores the conversation for a later task of this run that continues it. */
  remember?(messages: readonly Message[]): void;
  /**
   * Events of this attempt that were recorded so far, in order; empty for a new attempt. Each process that executes the
   * task asks once, when it begins: a process that replaces a dead process continues from the recorded turns.
   */
  past(): Promise<readonly KeptEvent[]>;
  /**
   * A snapshot of the workspace's current files, for a machine that does not have them. `have`: commits that the
   * machine has, if it also needs the commits since then. Absent where the task's machine has the files.
   */
  workspace?(have?: readonly string[]): Promise<WorkspaceSnapshot | Readonly<{ unable: string }>>;
  /** The subagents that have returned changes to the files of this task so far; absent where no task works in a copy. */
  returned?(): Promise<readonly ReturnedChanges[]>;
  /**
   * Calls the recording (cassette) that the run writes or replays; absent if there is no recording, and if the task can
   * use it directly.
   */
  tape?(method: string, values: readonly unknown[]): Promise<object | undefined>;
}>;

/** Whether a message between tasks was delivered, and to whom or why not. */
export type Delivery = Readonly<{ done: boolean; text: string }>;

/**
 * Executes one task. It never throws: failures are outcomes. Once the signal aborts it returns soon, even if its tools
 * are still busy, because a run ends only when all its tasks have ended.
 */
export type Perform = (call: Call, context: PerformContext) => Promise<Outcome>;

/**
 * The place where tasks are executed and questions wait: this process, or a database with many workers. `perform` is
 * idempotent per (run, path, attempt): the same key gives the same outcome, and only one process executes it. So a
 * process that resumes a run after a crash replays the journal, decides again, and asks for the same keys.
 */
export type Engine = Readonly<{
  perform: Perform;
  sleep(key: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Opens a question and waits for its answer; `undefined` when the signal aborts first. */
  answer(key: string, signal: AbortSignal): Promise<Answer | undefined>;
  /** Answers an open question; false when there is no open question or it was already answered. */
  give(key: string, answer: Answer): Promise<boolean>;
  /** Opens the journal of a run; `listener` learns which events are stored. */
  journal(run: string, listener: JournalListener): Promise<Journal>;
}>;
