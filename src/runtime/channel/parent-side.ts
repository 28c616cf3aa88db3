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
  const outcome = deferred<Outcome>();
  const silent = deferred<void>();
  const pongs: (() => void)[] = [];
  const asked = new Map<number, AbortController>();
  const held = new Map<number, Reservation>();
  /**
   * The current wait of a parked task: `ended` is resolved with the reason that ended it, `goesOn` tells whether the
   * task continues.
   */
  let parked: Readonly<{ ended: Deferred<string>; goesOn: Promise<boolean> }> | undefined;
  let over = false;

  const answers: { [K in keyof Requests]: (give: Requests[K]["give"], request: Asked) => Promise<Requests[K]["get"]> } =
    {
      durable: () => context.durable(),
      delegate: ({ what, parent }, { signal }) => context.delegate(what, parent, signal),
      agents: async () => (await context.agents?.()) ?? emptyCatalog,
      send: async ({ to, text }) => (await context.send?.(to, text)) ?? NOBODY,
      reserve: async (wish, { id, signal }) => {
        const got = await context.budget.reserve(wish, () => channel.send({ type: "revoke", id }), signal);
        if ("refused" in got) return got;
        if (over) got.release();
        else held.set(id, got);
        return undefined;
      },
      count: (what) => context.budget.count(what),
      room: () => context.budget.room(),
      ask: ({ question, ...about }, { signal }) => context.ask(question, { ...about, signal }),
      mail: ({ wait }, { signal }) => context.mail(wait ? signal : undefined),
      park: async (why) => {
        if (!context.parks) return false;
        const ended = deferred<string>();
        const stopped = onAbort(context.signal, () => ended.resolve(""));
        parked = { ended, goesOn: context.parks.park(why, () => ended.promise).finally(stopped) };
        return true;
      },
      unpark: async (why) => {
        parked?.ended.resolve(why);
        return (await parked?.goesOn) ?? false;
      },
      claim: async () => (await context.claim?.()) ?? true,
      start: async ({ what, parent, tells }) =>
        (await context.background?.start(what, parent, tells)) ??
        failed(
          "UNSUPPORTED",
          "This task cannot start background tasks. Start the agent and wait for its result instead.",
        ),
      ended: async (key, { signal }) => context.background?.ended(key, signal),
      past: () => context.past(),
      workspace: async (have) =>
        (await context.workspace?.(have ?? undefined)) ?? {
          unable: "the run does not send its workspace to workers",
        },
      returned: async () => (await context.returned?.()) ?? [],
      tape: async ({ method, values }) => context.tape?.(method, values),
      stop: async ({ key, reason }) => (await context.background?.stop(key, reason)) ?? false,
    };
  const answer = async (id: number, { ask, give }: ChildRequest): Promise<void> => {
    const controller = new AbortController();
    asked.set(id, controller);
    try {
      const get = await (answers[ask] as (give: unknown, request: Asked) => Promise<unknown>)(give, {
        id,
        signal: controller.signal,
      });
      channel.send({ type: "answer", id, get });
    } catch (thrown) {
      channel.send({ type: "broken", id, message: messageOf(thrown) });
    } finally {
      asked.delete(id);
    }
  };
  const end = (id: number, how: (reservation: Reservation) => void): void => {
    const reservation = held.get(id);
    held.delete(id);
    if (reservation) how(reservation);
  };
  const receive = (message: FromTask): void => {
    if (over) return;
    switch (message.type) {
      case "emit":
        return context.emit(message.fact);
      case "live":
        return context.live(message.delta);
      case "tell":
        return context.tell(message.text);
      case "request":
        return void answer(message.id, message.request);
      case "drop":
        return asked.get(message.id)?.abort();
      case "settle":
        return end(message.id, (reservation) => reservation.settle(message.actual));
      case "release":
        return end(message.id, (reservation) => reservation.release());
      case "pong":
        return pongs.splice(0).forEach((resolve) => resolve());
      case "ended":
        return outcome.resolve(message.outcome);
    }
  };
  channel.listen(receive, silent.resolve);
  const hush = context.onUrgent?.(() => channel.send({ type: "urgent" }));
  channel.send({ type: "job", job });
  return {
    outcome: outcome.promise,
    silent: silent.promise,
    cancel: (reason) => channel.send({ type: "cancel", reason }),
    ping: () =>
      new Promise((resolve) => {
        pongs.push(resolve);
        channel.send({ type: "ping" });
      }),
    leave: () => {
      over = true;
      hush?.();
      parked?.ended.resolve("");
      for (const controller of asked.values()) controller.abort();
      for (const id of held.keys()) end(id, (reservation) => reservation.release());
    },
  };
}

const NOBODY = { done: false, text: "No other agent is running that could receive a message." };

type Asked = Readonly<{ id: number; signal: AbortSignal }>;
