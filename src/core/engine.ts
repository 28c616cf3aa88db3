import type { Budget } from "./budget.ts";
import type { Answer } from "./gate.ts";
import type { AnyInput } from "./input.ts";
import type { Delta, Fact, KeptEvent } from "./event.ts";
import type { Outcome } from "./outcome.ts";
import type { Plan } from "./plan.ts";
import type { Task } from "./task.ts";

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
  /** How many agents stand above this one. */
  depth: number;
  /** The tools of whoever started this; absent for what a person started. */
  ceiling?: readonly string[];
}>;

export type Attachment = Readonly<{ title: string; text: string }>;

/** How a performer talks to the run while it works. */
export type PerformContext = Readonly<{
  signal: AbortSignal;
  emit(fact: Fact): void;
  live(delta: Delta): void;
  /** Resolves once everything emitted so far is kept. */
  durable(): Promise<void>;
  /** Runs a plan below this call; what is started may use no more than `ceiling`. */
  delegate(what: AnyInput | Plan, ceiling: readonly string[]): Promise<Outcome>;
  /** What the run and everything below it may still use. */
  budget: Budget;
  /** What an earlier life recorded of this very attempt, in order; empty for a new one. */
  past: readonly KeptEvent[];
}>;

/** Carries out one call. It never throws: what goes wrong is the outcome. */
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
  give(key: string, answer: Answer): boolean;
  /** The record of a run; `kept` is called with facts once they are durable, in order. */
  journal(run: string, kept: (events: readonly KeptEvent[]) => void): Promise<Journal>;
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
