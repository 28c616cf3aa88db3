import type { Catalog } from "../delegation/catalog.ts";
import type { Spawns } from "../delegation/spawn.ts";
import type { Message } from "../model/model.ts";
import type { FailedOutcome, Outcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import type { AnyInput } from "../plan/input.ts";
import type { Worktree } from "../plan/isolation.ts";
import type { Plan } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import type { Policy } from "../policy/policy.ts";
import type { Budget } from "../run/budget.ts";
import type { Delta, Fact, KeptEvent, Parking, ParkRules } from "../run/event.ts";
import type { Receipt } from "../run/run-command.ts";
import type { ForkPoint } from "./fork-point.ts";

/** One keyed piece of work, complete as JSON: it can be carried out here or on any worker. */
export type Call = Readonly<{
  run: string;
  path: string;
  attempt: number;
  /** The task with every reference filled in. */
  task: Task;
  /** Outputs of other nodes that the task was promised. */
  attachments: readonly Attachment[];
  /** Background that all tasks of the run share. */
  context: string;
  /** How many agents stand above this one, and how many may; negative or absent: as many as like. */
  depth: number;
  maxDepth?: number;
  /** The tools that it may use at most, as the run or the agent that started it says. */
  ceiling?: readonly string[];
  /** The tools that it had before it was interrupted: resuming gives no others. */
  recordedRights?: readonly string[];
  /** What the calls of whoever started this are judged by; absent for what a person started. */
  policy?: Policy;
  /** The model of whoever started this, which `inherit` means. */
  parentModel?: string;
  /** The worktree in which it works, or in which whoever started it does. */
  worktree?: Worktree;
  /** It judges the work of another task: what counts is its verdict. */
  review?: true;
  /** The task of this run whose conversation this goes on with: where it is, what it was asked, and what it handed in. */
  resumes?: Readonly<{ path: string; prompt: string; output: string }>;
  /** The conversation that this goes on with. */
  before?: readonly Message[];
  /** The conversation that it can start from, of the agent that started it; once its agent is resolved, that it starts from. */
  fork?: ForkPoint;
}>;

export type Attachment = Readonly<{ title: string; text: string }>;

/** What an agent passes on to those it starts. `inherit` means its model. */
export type Parent = Readonly<{
  /** The agents that it may start. */
  spawns: Spawns;
  /** The tools that they may use at most; absent: those of their own definitions. */
  ceiling?: readonly string[];
  model: string;
  /** What its calls are judged by. */
  policy?: Policy;
  /** where it works, when that is a worktree */
  worktree?: Worktree;
  /** Its conversation, for helpers that start from it. */
  conversation?: ForkPoint;
}>;

/** How a plan ended that an agent asked for, and each of its nodes, by id. */
export type DelegationOutcome = Outcome &
  Readonly<{
    /** Where they are: what the path of each begins with, and the run when it is one of its own. */
    under?: string;
    run?: string;
    nodes?: Readonly<Record<string, Outcome>>;
  }>;

/** What was started and goes on by itself: where it is, and where the output of each task will be kept. */
export type StartedNode = Readonly<{
  /** By which it is asked for. */
  key: string;
  under: string;
  run?: string;
  files: Readonly<Record<string, string>>;
}>;

/** What an agent that did not wait is told when its helpers have ended: all of it, or only that. */
export type HelperNotice = "result" | "ending";

/** Helpers that somebody started without waiting for them; they end with whoever started them. */
export type UnawaitedHelpers = Readonly<{
  /** Nobody is told when they end: there is no conversation into which it could be said. */
  silent?: true;
  start(what: AnyInput | Plan, parent: Parent, tells: HelperNotice): Promise<StartedNode | FailedOutcome>;
  /** Waits for their end; `undefined`: there are none there, or the signal aborted first. */
  ended(key: string, signal: AbortSignal): Promise<DelegationOutcome | undefined>;
  /** False: they have ended, or there are none there. */
  stop(key: string, reason: string): Promise<boolean>;
}>;

/** How a task waits for what only time, a provider or a person can bring. */
export type Parks = ParkRules &
  Readonly<{
    /**
     * Records why the task waits and gives its slot back until `wait` resolves with what ended the wait. False: it was
     * stopped meanwhile.
     */
    park(why: Parking, wait: (signal: AbortSignal) => Promise<string>): Promise<boolean>;
  }>;

/** How a performer talks to the run while it works. */
export type PerformContext = Readonly<{
  signal: AbortSignal;
  emit(fact: Fact): void;
  live(delta: Delta): void;
  /** Resolves once everything emitted so far is kept. */
  durable(): Promise<void>;
  /** Runs a plan below this call; what is started takes after `parent`, and ends with the call or with `stop`. */
  delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<DelegationOutcome>;
  /** Absent where nothing goes on by itself. */
  background?: UnawaitedHelpers;
  /** The agents there are right now; absent where nobody can look. */
  agents?(): Promise<Catalog>;
  /** Says something to another task of the run; the receipt says who will read it, or why nobody will. */
  send?(to: string, text: string): Promise<Receipt>;
  /** What the run and everything below it may still use. */
  budget: Pick<Budget, "reserve" | "count" | "room">;
  /** Absent: the task fails instead of waiting for a provider, a quota or a higher limit. */
  parks?: Parks;
  /** Waits until it is certain whether this task's changes count: false where a join picked another one. */
  claim?(): Promise<boolean>;
  /** Somebody is there who can be asked about a call. */
  attended: boolean;
  /** Asks about one call and waits; `undefined` when nobody is there or the signal aborts first. */
  ask(question: string, about: Readonly<{ call: string; signal: AbortSignal }>): Promise<Answer | undefined>;
  /** What was said to this task since its last turn. With a signal it waits until helpers in the background have spoken, if there are any. */
  mail(wait?: AbortSignal): Promise<readonly string[]>;
  /** Calls back when an urgent message arrived for the end of a turn; gives back how to stop listening. */
  onUrgent?(rung: () => void): () => void;
  /** Tells whoever started this task: the task above, or the person. */
  tell(text: string): void;
  /** Keeps the conversation for a task of this run that goes on with it. */
  remember?(messages: readonly Message[]): void;
  /** What an earlier life recorded of this very attempt, in order; empty for a new one. */
  past: readonly KeptEvent[];
}>;

/**
 * Carries out one call. It never throws: what goes wrong is the outcome. Once the signal aborts it ends soon, whatever
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
  /** Answers an open question; false when there is none, or somebody was faster. */
  give(key: string, answer: Answer): Promise<boolean>;
  /** The record of a run, and whoever wants to know about it. */
  journal(run: string, listener: JournalListener): Promise<Journal>;
}>;

/** Who is told about a journal. */
export type JournalListener = Readonly<{
  /** Facts that are durable now, in order. */
  kept(events: readonly KeptEvent[]): void;
  /** Nothing can be kept any more: the run has to stop. */
  lost(error: Error): void;
}>;

/** The facts of one run, in order. */
export type Journal = Readonly<{
  append(event: KeptEvent): void;
  /** Resolves once everything appended so far is kept; rejects when it cannot be. */
  durable(): Promise<void>;
  read(): Promise<readonly KeptEvent[]>;
  /** What was wrong with it when it was opened. */
  problems: readonly string[];
  close(): Promise<void>;
}>;
