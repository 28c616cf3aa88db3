import type { Answer } from "../../core/plan/gate.ts";
import type { Event } from "../../core/run/event.ts";
import type { BudgetReply, BudgetRequest } from "../../core/run/budget-request.ts";
import type { BelowSpent } from "../../core/run/run-below.ts";
import type { Result } from "../../core/run/result.ts";
import { resultOf } from "../../core/run/result.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { type Change, change as changeSchema } from "../../core/schedule/change.ts";
import { CrewError } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import type { StandardSchema } from "../../core/schema/standard-schema.ts";
import { crashAt } from "../../core/task/crash.ts";
import type { Engine } from "../../core/task/engine.ts";
import { Broadcast, type Listening } from "../async/broadcast.ts";
import { isKilled, killed, pausedFor, pauseReason, reasonOf, stopped } from "../async/cancel.ts";
import { deferred } from "../async/deferred.ts";
import { onAbort } from "../async/on-abort.ts";
import { questionKey } from "../execute/ask-person.ts";
import type { Note } from "../execute/send-message.ts";
import type { RunLog } from "./run-log.ts";
import { textPieces } from "./text-pieces.ts";
import { type PartSchemas, withData } from "./typed-data.ts";

/** The function that executes a run: it publishes the run's events and returns when the run has ended. */
export type Driver = (drive: Drive) => Promise<void>;

/** The part of a run's interface that only the function that executes it uses. */
export type Drive = {
  readonly run: string;
  readonly self: Run;
  readonly signal: AbortSignal;
  readonly state: State;
  publish(event: Event): void;
  /** Connects the run to its log and to what can be asked of it. */
  connect(connection: RunConnection): void;
};

/** What can be asked of a run while it is executed. */
export type RunControls = Readonly<{
  change(change: Change): void;
  send(path: string, note: Note): Promise<boolean>;
  stop(path: string, reason: string): boolean;
  retryTask(path: string): Promise<string | undefined>;
  charge(path: string, spent: BelowSpent): boolean;
  /**
   * Answers a request of a nested run for a part of the budget. `undefined`: the amount fits once other model calls are
   * settled; the nested run asks again.
   */
  lend(from: Readonly<{ path: string; below: string }>, request: BudgetRequest): Promise<BudgetReply | undefined>;
  revoke(reservation: string): void;
}>;

/** `engine`: where the run's questions wait. Without features, a run takes no commands. */
type RunConnection = Readonly<{ log: RunLog; engine: Engine }> & Partial<RunControls>;

/** Options of the caller for a run. */
export type RunExtras = Readonly<{
  /** The run is cancelled when this signal aborts. */
  signal?: AbortSignal | undefined;
  /** The output schemas from a schema library of the caller: `data` of the result is the value that they return. */
  schema?: StandardSchema | PartSchemas | undefined;
}>;

/** One execution of a plan: iterate over it for its events, await it for its result. `T` is the type of its `data`. */
export class Run<T = unknown> implements PromiseLike<Result<T>>, AsyncIterable<Event> {
  readonly id: string;
  readonly #state: State;
  readonly #events = new Broadcast<Event>();
  readonly #controller = new AbortController();
  readonly #result = deferred<Result<T>>();
  #connection: RunConnection | undefined;

  constructor(id: string, driver: Driver, extras: RunExtras = {}) {
    this.id = id;
    this.#state = emptyState(id);
    this.#result.promise.catch(() => {});
    // Started in a microtask, so that the creator of the run can listen from the first event.
    queueMicrotask(() => void this.#drive(driver, extras));
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a run is awaited for its result
  then<A = Result<T>, B = never>(
    yes?: ((result: Result<T>) => A | PromiseLike<A>) | null,
    no?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.promise.then(yes, no);
  }

  /** Every event: past events from the journal, then each new event. */
  [Symbol.asyncIterator](): Listening<Event> {
    let begun: Listening<Event> | undefined;
    const events = (): Listening<Event> => {
      const seen = this.#state.seq;
      begun ??= seen > 0 && this.#connection ? this.#fromRecord(this.#connection.log, seen) : this.#events.listen();
      return begun;
    };
    return {
      next: () => events().next(),
      return: async () => {
        await events().return();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** The recorded events up to a number, from the journal, then each new event. */
  async *#fromRecord(log: RunLog, seen: number): AsyncGenerator<Event, void> {
    const live = this.#events.listen();
    const first = live.next();
    try {
      const events = await log.read();
      yield* events.filter((event) => event.seq <= seen);
      for (let next = await first; !next.done; next = await live.next()) yield next.value;
    } finally {
      await live.return();
    }
  }

  /** The events of these types, typed accordingly. */
  async *events<K extends Event["type"]>(...types: readonly K[]): AsyncGenerator<Extract<Event, { type: K }>, void> {
    const wanted: ReadonlySet<string> = new Set(types);
    for await (const event of this) if (wanted.has(event.type)) yield event as Extract<Event, { type: K }>;
  }

  /** The first event of this type that passes the check; `undefined`: the run ended without such an event. */
  async first<K extends Event["type"]>(
    type: K,
    check: (event: Extract<Event, { type: K }>) => boolean = () => true,
  ): Promise<Extract<Event, { type: K }> | undefined> {
    for await (const event of this.events(type)) if (check(event)) return event;
    return undefined;
  }

  /**
   * The answer while it is written, in pieces: the text of the task whose output is the result. An answer that was not
   * streamed is a single piece at the end. The output of a plan that ends with a join is a single piece, too.
   */
  get textStream(): AsyncGenerator<string, void> {
    return textPieces(this, () => this.#state);
  }

  /** The current state; it changes while the run continues. */
  get state(): State {
    return this.#state;
  }

  /** Pauses the run. It can be resumed from its journal. */
  pause(reason = "paused"): void {
    this.#controller.abort(pausedFor(reason));
  }

  /**
   * Stops the work at once and records nothing: the run is interrupted, as if its process had died. False: the run was
   * already being paused or cancelled.
   */
  kill(): boolean {
    if (this.#controller.signal.aborted) return false;
    this.#controller.abort(killed);
    return true;
  }

  /** True when `kill` stopped the run. */
  get killed(): boolean {
    return isKilled(this.#controller.signal);
  }

  /** Cancels the run permanently: everything that waits or runs is cancelled; finished work is kept. */
  cancel(reason = "cancelled"): void {
    this.#controller.abort(stopped(reason));
  }

  /** Cancels one task and all its subagents. False: the task has ended, or does not exist. */
  cancelTask(path: string, reason = "cancelled"): boolean {
    return this.#connection?.stop?.(path, reason) ?? false;
  }

  /**
   * Retries a failed task while the rest continues, together with the tasks that were skipped because of it. Returns
   * the reason if that is not possible.
   */
  async retryTask(path: string): Promise<string | undefined> {
    return this.#connection?.retryTask?.(path) ?? "The run is not running.";
  }

  /** Counts the usage of a nested run, which a program of one of the tasks started. False: this run has ended. */
  charge(path: string, spent: BelowSpent): boolean {
    return this.#connection?.charge?.(path, spent) ?? false;
  }

  /**
   * Answers a nested run that asks for a part of the budget. A program of one of this run's tasks started the nested
   * run. `undefined`: it has to wait until other amounts are settled.
   */
  async lend(...asked: Parameters<RunControls["lend"]>): Promise<BudgetReply | undefined> {
    return this.#connection?.lend?.(...asked);
  }

  /** Takes back a reservation (an amount set aside for a model call) that the parent run granted to this run. */
  revoke(reservation: string): void {
    this.#connection?.revoke?.(reservation);
  }

  /** Resolves when the state contains everything that the run has emitted so far. */
  async recorded(): Promise<void> {
    await this.#connection?.log.durable();
  }

  /** Answers a gate or a question about a tool call. False: it is not open, or was already answered. */
  async answer(path: string, answer: Answer, call?: string): Promise<boolean> {
    if (pauseReason(this.#controller.signal) !== undefined) return false; // the resumed run asks the question again
    return (await this.#connection?.engine.give(questionKey(this.id, path, call), answer)) ?? false;
  }

  /**
   * Sends a message to a running task, which reads it before its next turn or is interrupted for it. False: the task is
   * not running. True: the message is recorded.
   */
  async send(path: string, text: string, from = "the user", how: Note["how"] = "steer"): Promise<boolean> {
    return (await this.#connection?.send?.(path, { text, from, how })) ?? false;
  }

  /** Changes the plan: new nodes, new dependencies, cancelled nodes. An invalid change throws and has no effect. */
  change(change: Change): void {
    if (!this.#connection?.change || this.#state.endedAt !== undefined) {
      throw new CrewError(
        "BAD_CHANGE",
        "The plan cannot be changed: the run has not started, or has ended.",
        "Change the plan after the event run.started and before run.ended.",
      );
    }
    this.#connection.change(parseAs<Change>(changeSchema, change, { code: "BAD_CHANGE", what: "change" }));
  }

  async #drive(driver: Driver, { signal, schema }: RunExtras): Promise<void> {
    const release = signal && onAbort(signal, () => this.cancel(reasonOf(signal)));
    if (signal?.aborted) this.cancel(reasonOf(signal));
    try {
      await driver({
        run: this.id,
        self: this as Run,
        signal: this.#controller.signal,
        state: this.#state,
        publish: (event) => {
          reduce(this.#state, event);
          this.#events.send(event);
        },
        connect: (connection) => {
          this.#connection = connection;
        },
      });
      const result = resultOf(this.#state);
      this.#result.resolve((schema ? await withData(result, schema) : result) as Result<T>);
      this.#events.end();
    } catch (thrown) {
      const error = crashAt(thrown, { run: this.id, path: "" });
      this.#result.reject(error);
      this.#events.end(error);
    } finally {
      release?.();
    }
  }
}
