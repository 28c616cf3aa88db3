import { emptyCatalog } from "../../core/delegation/catalog.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Reservation } from "../../core/run/budget.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import { type Deferred, deferred } from "../async/deferred.ts";
import { onAbort } from "../async/on-abort.ts";
import type { ChildRequest, FromTask, HostChannel, Requests } from "./protocol.ts";

/** A task that runs in another process, which is connected by a channel. */
export type ChildCall = Readonly<{
  /** The outcome of the task; never settles if the child ends without an outcome. */
  outcome: Promise<Outcome>;
  /** Resolves when the other side has closed the channel. */
  silent: Promise<void>;
  cancel(reason: string): void;
  /** Pings the child; resolves when it answers. */
  ping(): Promise<void>;
  /** Ignores further messages of the child, releases its budget reservations and stops its requests. */
  leave(): void;
}>;

/** Sends a job to the child and answers its requests from the task's context. */
export function serveChild(channel: HostChannel, job: Job, context: PerformContext): ChildCall {
  return new HostedTask(channel, job, context);
}

/** A task in another process: passes on what it sends, and answers its requests from its context. */
class HostedTask implements ChildCall {
  readonly #channel: HostChannel;
  readonly #context: PerformContext;
  readonly #outcome = deferred<Outcome>();
  readonly #silent = deferred<void>();
  readonly #pongs: (() => void)[] = [];
  /** The open requests of the child. */
  readonly #asked = new Map<number, AbortController>();
  /** The reservations of the child, by the number of the request. */
  readonly #held = new Map<number, Reservation>();
  readonly #hush: (() => void) | undefined;
  /**
   * The current wait of a parked task: `ended` is resolved with the reason that ended it, `goesOn` tells whether the
   * task continues.
   */
  #parked: Readonly<{ ended: Deferred<string>; goesOn: Promise<boolean> }> | undefined;
  #isOver = false;

  constructor(channel: HostChannel, job: Job, context: PerformContext) {
    this.#channel = channel;
    this.#context = context;
    channel.listen((message) => this.#receive(message), this.#silent.resolve);
    this.#hush = context.onUrgent?.(() => channel.send({ type: "urgent" }));
    channel.send({ type: "job", job });
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  get silent(): Promise<void> {
    return this.#silent.promise;
  }

  readonly cancel = (reason: string): void => this.#channel.send({ type: "cancel", reason });

  readonly ping = (): Promise<void> =>
    new Promise((resolve) => {
      this.#pongs.push(resolve);
      this.#channel.send({ type: "ping" });
    });

  readonly leave = (): void => {
    this.#isOver = true;
    this.#hush?.();
    this.#parked?.ended.resolve("");
    for (const controller of this.#asked.values()) controller.abort();
    for (const id of this.#held.keys()) this.#end(id, (reservation) => reservation.release());
  };

  #receive(message: FromTask): void {
    if (this.#isOver) return;
    const context = this.#context;
    switch (message.type) {
      case "emit":
        return context.emit(message.fact);
      case "live":
        return context.live(message.delta);
      case "tell":
        return context.tell(message.text);
      case "request":
        return void this.#answer(message.id, message.request);
      case "drop":
        return this.#asked.get(message.id)?.abort();
      case "settle":
        return this.#end(message.id, (reservation) => reservation.settle(message.actual));
      case "release":
        return this.#end(message.id, (reservation) => reservation.release());
      case "pong":
        return this.#pongs.splice(0).forEach((resolve) => resolve());
      case "ended":
        return this.#outcome.resolve(message.outcome);
    }
  }

  async #answer(id: number, { ask, give }: ChildRequest): Promise<void> {
    const controller = new AbortController();
    this.#asked.set(id, controller);
    try {
      const work = this.#answers[ask] as (give: unknown, request: Asked) => Promise<unknown>;
      this.#channel.send({ type: "answer", id, get: await work(give, { id, signal: controller.signal }) });
    } catch (thrown) {
      this.#channel.send({ type: "broken", id, message: messageOf(thrown) });
    } finally {
      this.#asked.delete(id);
    }
  }

  #end(id: number, how: (reservation: Reservation) => void): void {
    const reservation = this.#held.get(id);
    this.#held.delete(id);
    if (reservation) how(reservation);
  }

  readonly #answers: Answers = {
    durable: () => this.#context.durable(),
    delegate: ({ what, parent }, { signal }) => this.#context.delegate(what, parent, signal),
    agents: async () => (await this.#context.agents?.()) ?? emptyCatalog,
    send: async ({ to, text }) => (await this.#context.send?.(to, text)) ?? NOBODY,
    reserve: async (wish, { id, signal }) => {
      const got = await this.#context.budget.reserve(wish, () => this.#channel.send({ type: "revoke", id }), signal);
      if ("refused" in got) return got;
      if (this.#isOver) got.release();
      else this.#held.set(id, got);
      return undefined;
    },
    count: (what) => this.#context.budget.count(what),
    room: () => this.#context.budget.room(),
    ask: ({ question, ...about }, { signal }) => this.#context.ask(question, { ...about, signal }),
    mail: ({ wait }, { signal }) => this.#context.mail(wait ? signal : undefined),
    park: async (why) => {
      const { parks, signal } = this.#context;
      if (!parks) return false;
      const ended = deferred<string>();
      const stopped = onAbort(signal, () => ended.resolve(""));
      this.#parked = { ended, goesOn: parks.park(why, () => ended.promise).finally(stopped) };
      return true;
    },
    unpark: async (why) => {
      this.#parked?.ended.resolve(why);
      return (await this.#parked?.goesOn) ?? false;
    },
    claim: async () => (await this.#context.claim?.()) ?? true,
    start: async ({ what, parent, tells }) =>
      (await this.#context.background?.start(what, parent, tells)) ??
      failed(
        "UNSUPPORTED",
        "This task cannot start background tasks. Start the agent and wait for its result instead.",
      ),
    ended: async (key, { signal }) => this.#context.background?.ended(key, signal),
    stop: async ({ key, reason }) => (await this.#context.background?.stop(key, reason)) ?? false,
    past: () => this.#context.past(),
    workspace: async (have) =>
      (await this.#context.workspace?.(have ?? undefined)) ?? {
        unable: "the run does not send its workspace to workers",
      },
    returned: async () => (await this.#context.returned?.()) ?? [],
    tape: async ({ method, values }) => this.#context.tape?.(method, values),
  };
}

const NOBODY = { done: false, text: "No other agent is running that could receive a message." };

type Asked = Readonly<{ id: number; signal: AbortSignal }>;
type Answers = {
  readonly [K in keyof Requests]: (give: Requests[K]["give"], request: Asked) => Promise<Requests[K]["get"]>;
};
