import { getEventListeners } from "node:events";
import { StoppableNodes } from "../../../src/runtime/execute/stoppable-nodes.ts";
import { failed, type Outcome } from "../../../src/core/outcome/outcome.ts";
import type { Answer } from "../../../src/core/plan/gate.ts";
import type { AnyInput } from "../../../src/core/plan/input.ts";
import type { Body, Plan } from "../../../src/core/plan/plan.ts";
import { createBudget } from "../../../src/core/run/budget.ts";
import type { Fact, KeptEvent } from "../../../src/core/run/event.ts";
import { historyOf, noHistory } from "../../../src/core/run/history.ts";
import { emptyState, reduce, type State } from "../../../src/core/run/state.ts";
import type { Change } from "../../../src/core/schedule/change.ts";
import { nowhere } from "../../../src/core/schedule/fill-references.ts";
import { CrewError } from "../../../src/core/schema/error.ts";
import type { Call, Engine, PerformContext } from "../../../src/core/task/engine.ts";
import { compile } from "../../../src/modes/compile.ts";
import { pausedFor, reasonOf, stopped } from "../../../src/runtime/async/cancel.ts";
import { Slots } from "../../../src/runtime/async/slots.ts";
import { execute, type RunningPlan } from "../../../src/runtime/execute/execute.ts";
import { createLeases } from "../../../src/runtime/execute/leases.ts";
import { createMailbox } from "../../../src/runtime/execute/mailbox.ts";
import type { NodeWorktrees, PlanOutcome } from "../../../src/runtime/execute/scope.ts";

/** The behaviour of a task in an experiment: it lets moments pass, delegates, and then ends. */
export type Act = Readonly<{
  moments?: number;
  /**
   * The plans that the task delegates, one after the other; the plans of an inner list are delegated at the same time.
   */
  delegates?: readonly (AnyInput | Plan | readonly (AnyInput | Plan)[])[];
  /** Several tools at once: each lets moments pass and delegates, in this order. */
  tracks?: readonly (readonly ("moment" | AnyInput | Plan)[])[];
  /** Plans that the task delegates without waiting for them. */
  abandons?: readonly (AnyInput | Plan)[];
  /** True: the task needs one more moment to stop after the abort. */
  slowToStop?: boolean;
  /** At its end it claims a winner's place of its race, and applies its changes for this many moments. */
  claims?: number;
  ends: "throws" | Outcome;
}>;

/** The controls of an experiment. */
export type Control = Readonly<{
  cancel(reason?: string): void;
  change(change: Change): void;
  cancelWaiting: RunningPlan["cancelWaiting"];
  retry: RunningPlan["retry"];
  /** Cancels a task for good, as a person does it by name. */
  stop(path: string, reason: string): void;
  /** Marks a task as interrupted: its end was not recorded. */
  interrupt(path: string): void;
}>;

/** An experiment without a clock. One thing happens after the other, and `choices` decide which is next. */
export type Experiment = Readonly<{
  plan: Body;
  act(call: Call): Act;
  answer?(path: string): Answer;
  slots?: number;
  choices?: readonly number[];
  /** The events of an earlier process of the run. */
  past?: readonly KeptEvent[];
  retryFailed?: boolean;
  unattended?: boolean;
  maxDepth?: number;
  /** Only this node and its dependents start; the run is paused when they have ended. */
  only?: string;
  /** Creates the worktrees of nodes; `moment` waits until it is their turn. */
  worktrees?(moment: () => Promise<void>): NodeWorktrees;
  /** The run is cancelled before the plan begins. */
  cancelled?: boolean;
  /** Recording waits until this is resolved. */
  durable?: Promise<void>;
  /** Called before each thing that happens, and right after the start with 0. */
  before?(step: number, control: Control): void;
  /** Called inside of every emit, which is the most difficult place for a change. */
  heard?(event: KeptEvent, control: Control): void;
}>;

/** The observations of an experiment. */
export type Observed = Readonly<{
  executed: PlanOutcome;
  /** The events of this process. */
  events: readonly KeptEvent[];
  /** The events of the earlier process and of this one. */
  journal: readonly KeptEvent[];
  /** `path#attempt` of every call that was performed, in order. */
  performed: readonly string[];
  /** The highest number of tasks that worked at once; a task that waits for helpers does not count. */
  mostAtOnce: number;
  steps: number;
  /** The fold of the whole journal. */
  state: State;
  /** What is left after the plan has ended: tasks that could still be stopped, and listeners of the run's signal. */
  left: Readonly<{ stoppable: number; listeners: number }>;
  control: Control;
}>;

/** Runs one experiment to its end. Throws if nothing can happen any more before the plan has ended. */
export async function observe(experiment: Experiment): Promise<Observed> {
  const { plan, act, answer, slots = 8, choices = [0], past = [], maxDepth = 5 } = experiment;
  const pending: (() => void)[] = [];
  const journal: KeptEvent[] = [...past];
  const performed: string[] = [];
  const stop = new AbortController();
  let atWork = 0;
  let mostAtOnce = 0;
  let growing: RunningPlan | undefined;

  const begun = (): RunningPlan => {
    if (!growing) throw new CrewError("BAD_CHANGE", "It does not run yet.", "Wait a moment.");
    return growing;
  };
  const control: Control = {
    cancel: (reason = "enough") => stop.abort(stopped(reason)),
    change: (change) => begun().change(change),
    cancelWaiting: (id, reason) => begun().cancelWaiting(id, reason),
    retry: (id) => begun().retry(id),
    stop: (path, reason) => void stoppable.cancel(path, reason),
    interrupt: (path) => stoppable.interrupt(path),
  };
  const emit = (path: string, fact: Fact): void => {
    const event: KeptEvent = { seq: journal.length + 1, run: "lab", path, at: 0, ...fact };
    journal.push(event);
    experiment.heard?.(event, control);
  };
  /** Waits until it is the turn of this caller, or the signal aborts. */
  const moment = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const over = (): void => {
        signal?.removeEventListener("abort", over);
        resolve();
      };
      pending.push(over);
      signal?.addEventListener("abort", over, { once: true });
    });
  const working = async (signal: AbortSignal, moments: number): Promise<void> => {
    atWork += 1;
    mostAtOnce = Math.max(mostAtOnce, atWork);
    for (let n = 0; n < moments; n += 1) await moment(signal);
    atWork -= 1;
  };

  const perform = async (call: Call, context: PerformContext): Promise<Outcome> => {
    performed.push(`${call.path}#${call.attempt}`);
    const { moments = 1, delegates = [], abandons = [], tracks = [], slowToStop = false, claims, ends } = act(call);
    await working(context.signal, moments);
    for (const what of abandons) void context.delegate(what, { spawns: "*", ceiling: [], model: "offline" });
    if (abandons.length > 0) await moment(context.signal);
    for (const group of delegates) {
      if (context.signal.aborted) break;
      await Promise.all(
        [group]
          .flat()
          .map((what) => context.delegate(what as AnyInput, { spawns: "*", ceiling: [], model: "offline" })),
      );
      if (!context.signal.aborted) await working(context.signal, 1);
    }
    const follow = async (track: NonNullable<Act["tracks"]>[number]): Promise<void> => {
      for (const part of track) {
        if (context.signal.aborted) return;
        await (part === "moment"
          ? moment(context.signal)
          : context.delegate(part, { spawns: "*", ceiling: [], model: "offline" }));
      }
    };
    await Promise.all(tracks.map(follow));
    if (context.signal.aborted) {
      if (slowToStop) await moment();
      return { status: "cancelled", reason: reasonOf(context.signal) };
    }
    if (ends === "throws") throw new Error(`${call.path} threw`);
    if (claims === undefined) return ends;
    if (!(await context.claim!())) return { status: "cancelled", reason: "lost" };
    for (let n = 0; n < claims; n += 1) await moment();
    return ends;
  };
  const engine: Engine = {
    perform,
    sleep: (_key, _ms, signal) => moment(signal),
    answer: async (key, signal) => {
      await moment(signal);
      return signal.aborted ? undefined : (answer?.(key.slice("lab/".length)) ?? { approve: true });
    },
    give: () => Promise.resolve(false),
    journal: () => Promise.reject(new Error("the lab keeps its own")),
  };

  const stoppable = new StoppableNodes();
  const { only } = experiment;
  if (past.length === 0) emit("", { type: "run.started", plan, cwd: "/", version: "0", limits: {} });
  if (experiment.cancelled) control.cancel();
  let over = false;
  const work = execute(
    plan,
    {
      run: {
        id: "lab",
        engine,
        history: past.length > 0 ? historyOf(past, { retryFailed: experiment.retryFailed ?? false }) : noHistory,
        emit,
        live: () => {},
        durable: () => experiment.durable ?? Promise.resolve(),
        context: "",
        parameters: { unattended: experiment.unattended ?? false, maxDepth },
        budget: createBudget({}),
        mailbox: createMailbox(),
        leases: createLeases(),
        stoppable,
        compile: (what) => compile(what),
        redact: (text) => text,
        random: () => 0.5,
        ...(experiment.worktrees && { worktrees: experiment.worktrees(() => moment()) }),
        execute,
      },
      prefix: "",
      outer: nowhere,
      slots: new Slots(slots),
      signal: stop.signal,
      depth: 0,
    },
    {
      started: (handle) => {
        growing = handle;
      },
      ...(only !== undefined && { only: { node: only, over: () => stop.abort(pausedFor("later")) } }),
    },
  ).finally(() => {
    over = true;
  });
  work.catch(() => {});

  let step = 0;
  for (;;) {
    experiment.before?.(step, control);
    await new Promise(setImmediate);
    if (over) break;
    if (pending.length === 0) throw new Error(`stuck after ${step} steps:\n${journal.map(line).join("\n")}`);
    const choice = choices[step % choices.length] ?? 0;
    pending.splice(choice % pending.length, 1)[0]!();
    step += 1;
  }
  const executed = await work;
  const state = journal.reduce(reduce, emptyState("lab"));
  const left = { stoppable: stoppable.size, listeners: getEventListeners(stop.signal, "abort").length };
  const events = journal.slice(past.length);
  return { executed, events, journal, performed, mostAtOnce, steps: step, state, left, control };
}

/** An event in one line, for messages and for comparisons. */
export function line(event: KeptEvent): string {
  const { seq: _seq, run: _run, at: _at, path, type, ...rest } = event;
  return `${type} ${path} ${type === "run.started" ? "" : JSON.stringify(rest)}`;
}

/** A task that succeeds. */
export const ok = (output = "done", more: Omit<Act, "ends"> = {}): Act => ({ ...more, ends: { status: "ok", output } });

/** A task that fails. */
export const bad = (message = "boom", more: Omit<Act, "ends"> = {}): Act => ({
  ...more,
  ends: failed("CRASHED", message),
});

/** Creates a task node. */
export const task = (
  prompt: string,
  more: Record<string, unknown> = {},
  needs?: readonly string[],
): Body["nodes"][string] => ({
  kind: "task",
  ...(needs && { needs }),
  task: { prompt, refs: {}, ...more },
});
