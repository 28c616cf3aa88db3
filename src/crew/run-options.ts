import type { BudgetLimits } from "../core/run/budget.ts";
import type { Origin } from "../core/run/event.ts";
import type { Parent } from "../core/task/engine.ts";
import type { DeckMaker } from "../runtime/cassette/cassette.ts";
import type { Run } from "../runtime/run/run.ts";

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

/** The same for a run that is taken up again. */
export type ResumeOptions = RunOptions & Readonly<{ /** Try again what failed, too. */ retryFailed?: boolean }>;
