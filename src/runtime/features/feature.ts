import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Delta, Event, Fact, KeptEvent } from "../../core/run/event.ts";
import type { State } from "../../core/run/state.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { RunningPlan } from "../execute/execute.ts";
import type { RunScope } from "../execute/scope.ts";
import type { Deck } from "../cassette/deck.ts";
import type { World } from "../task/world.ts";
import type { RunLog } from "../run/run-log.ts";
import type { Run, RunControls } from "../run/run.ts";
import type { Start } from "./start.ts";

/** What a run does beside executing its plan: one row of the table of features. */
export type Feature<R extends OpeningRun = OpeningRun> = Readonly<{
  name: string;
  /** What it does, in one sentence. */
  does: string;
  /** Refuses a run, before anything is recorded. */
  check?(start: Start): Promise<void> | void;
  /** Wraps what carries out the tasks of a run, in this process or on a worker. */
  work?(world: World, run: WorkOfRun): World;
  /** Opens the feature for one run. If it throws, the features that are open are closed, and nothing is recorded. */
  open?(run: R): OpenFeature | Promise<OpenFeature>;
}>;

/** The run whose tasks are carried out. */
export type WorkOfRun = Readonly<{
  run: string;
  store: RunStore;
  /** The recording that the run writes or replays. */
  deck?: Omit<Deck, "tape" | "end" | "drift"> | undefined;
  reuse?: boolean | undefined;
  /** Makes the run wait for some work before it ends. */
  linger(work: Promise<unknown>): void;
}>;

/** A feature of one run. Every part is optional; an earlier row of the table is outside of a later row. */
export type OpenFeature = Readonly<{
  /** Wraps what the tasks of the run emit. */
  outlets?(inner: Outlets): Outlets;
  /** Wraps the publication of events to the run's listeners. */
  publish?(inner: (event: Event) => void): (event: Event) => void;
  /** Called with events that are now safely stored. */
  stored?(events: readonly KeptEvent[]): void;
  /** Adds to the scope of the run's plans, or wraps what the rows further inside have put there. */
  scope?(inner: Scope): Partial<Scope>;
  /** What callers and other processes may ask of the run while it is executed. */
  commands?: Partial<RunControls>;
  /** Called once the run's plan is being executed. */
  executing?(plan: RunningPlan): void;
  /** Called when the run is stopped for any reason, before any task notices. */
  stopping?(): void;
  /** May change the outcome of the run; `undefined`: the run does not end, and can be resumed. */
  end?(outcome: Outcome): Outcome | undefined;
  /** Called when all tasks have ended, while this process still owns the run. */
  close?(): Promise<void> | void;
  /** Called when this process no longer owns the run. */
  closed?(): Promise<void> | void;
}>;

/** The two channels on which a run emits: recorded events and live text. */
export type Outlets = Readonly<{
  emit: (path: string, fact: Fact) => void;
  live: (path: string, delta: Delta) => void;
}>;

/** The scope of a run's plans, and the signal that stops all of them. */
export type Scope = RunScope & Readonly<{ signal: AbortSignal }>;

/** A run whose features are being opened. */
export type OpeningRun = Start &
  Readonly<{
    id: string;
    /** The handle of the run. */
    self: Run;
    state: State;
    log: RunLog;
    /** Emits through every row of the table. */
    emit: Outlets["emit"];
    /** Aborts when the run is stopped: cancelled, paused or killed, or because its journal cannot be written. */
    signal: AbortSignal;
  }>;
