import type { Outcome } from "../core/outcome/outcome.ts";
import type { PerformContext } from "../core/task/engine.ts";
import type { Job } from "../core/task/job.ts";
import type { Announcement } from "../core/task/placement.ts";
import { serveParent } from "../runtime/channel/child-side.ts";
import { pause, stopped } from "../runtime/async/cancel.ts";
import { Slots } from "../runtime/async/slots.ts";
import { type CallEpoch, callTable } from "./calls/call-table.ts";
import { createInbox } from "./calls/inbox.ts";
import { workerChannel } from "./calls/task-channel.ts";
import { createTaskSlot, type TaskSlot } from "./calls/task-slot.ts";
import type { Connection } from "./connect.ts";
import type { QueueListener, QueueListenerOptions } from "./dbos/listen.ts";
import { PROCESSES_CHANNEL } from "./postgres/channel-name.ts";
import { workerClassOf } from "./worker-class.ts";

/** A worker: takes tasks from a queue and executes them until it is drained. */
export type Worker = Readonly<{
  id: string;
  class: string;
  /** The tasks that the worker is executing. */
  working(): readonly string[];
  /**
   * Takes no more tasks. Each running task ends or is given back before its next model turn, at the latest after the
   * grace period.
   */
  drain(graceMs: number): Promise<void>;
  /** Calls back when a person drains the worker with `subcrew engine drain`. */
  onDrain(listener: () => void): void;
}>;

export type WorkerOptions = Readonly<{
  connection: Connection;
  announcement: Announcement;
  pollMs: number;
  /** Executes a job with the keys, tools and permissions of this machine. It never throws. */
  perform(job: Job, context: PerformContext): Promise<Outcome>;
  /**
   * Listens to the queue from which this worker takes tasks; all workers with the same capabilities (a class) share one
   * queue.
   */
  listen(options: QueueListenerOptions): Promise<QueueListener>;
}>;

/** Starts a worker, which takes tasks from its queue. */
export async function startWorker({
  connection,
  announcement,
  pollMs,
  perform,
  listen,
}: WorkerOptions): Promise<Worker> {
  const { database, presence } = connection;
  const table = callTable(database);
  const inbox = createInbox(database, presence.id, "mail");
  const name = workerClassOf(announcement);
  const open = new Map<string, () => Promise<void>>();
  const draining = new AbortController();

  let busy = 0;
  const slots = new Slots(announcement.slots);
  /** How many tasks of this worker wait for their subagents, and the tasks that work in their place. */
  let waiting = 0;
  const spares = new Set<Promise<unknown>>();
  let spareTaker: Promise<void> | undefined;
  /** The tasks that this worker has taken or is taking. */
  const held = new Set<string>();
  /** Executes a task. Returns true when it ran to its end; its run may then have the next task for this worker. */
  const work = async (at: CallEpoch, isSpare = false): Promise<boolean> => {
    const key = `${at.epoch} ${at.call}`;
    if (held.has(key)) return false; // the same task was both offered directly and queued
    held.add(key);
    const slot = createTaskSlot(slots, (isWaiting) => {
      waiting += isWaiting ? 1 : -1;
      table.waits(at, isWaiting).catch(() => {}); // it only makes the choice of a worker better
      if (isWaiting) spareTaker ??= takeSpares().finally(() => (spareTaker = undefined));
    });
    try {
      const patience = AbortSignal.any([draining.signal, AbortSignal.timeout(FULL_MS)]);
      if (await slot.begin(patience)) return await workOn(at, slot);
      // A task that waited for its subagents has taken its slot again meanwhile.
      if (!isSpare) await table.giveBack(at);
      return false;
    } finally {
      slot.end();
      held.delete(key);
    }
  };
  /**
   * Takes tasks beside the queue while tasks wait for their subagents, because the queue counts those tasks as running.
   * Without this, subagents would wait for the slots of the tasks that wait for them.
   */
  const takeSpares = async (): Promise<void> => {
    while (waiting > 0 && !draining.signal.aborted) {
      const room = waiting - spares.size;
      for (const at of room > 0 ? await table.placed(name, room).catch(() => []) : []) {
        const spare = work(at, true)
          .catch(() => giveUp(at))
          .finally(() => spares.delete(spare));
        spares.add(spare);
      }
      await pause(pollMs, draining.signal);
    }
  };
  const workOn = async (at: CallEpoch, slot: TaskSlot): Promise<boolean> => {
    const { call, epoch } = at;
    if (draining.signal.aborted) {
      await table.giveBack(at);
      return false;
    }
    const taken = await table.take(at, { worker: presence.id, class: name });
    if (!taken) return false;
    const channel = workerChannel(database, inbox, at);
    const stop = new AbortController();
    const handBack = async (): Promise<void> => {
      await channel.flushed();
      channel.cut();
      await table.giveBack(at);
      stop.abort(stopped("the worker ends"));
    };
    open.set(`${epoch} ${call}`, handBack);
    // The next check of the worker finds that it no longer has the task, and stops the task.
    channel.onOrphaned(() => void table.giveBack(at).catch(() => {}));
    channel.deliver({ type: "job", job: taken.job });
    await serveParent(
      channel,
      (job, context) => perform(job, betweenTurns(slot.around(context), draining.signal, handBack)),
      stop.signal,
    );
    open.delete(`${epoch} ${call}`);
    await channel.close();
    if (channel.isFenced()) await table.giveBack(at); // this has no effect when the task was already given to another worker
    return taken.job.isAlone === true && !channel.isFenced() && !stop.signal.aborted;
  };
  /**
   * Executes a task from the queue, then the tasks that its run offers next, so that the next task of a chain need not
   * wait for the next poll. A worker without another free slot does not wait for an offer.
   */
  const serve = async (first: CallEpoch): Promise<void> => {
    busy += 1;
    let accept: ((offered: CallEpoch) => void) | undefined;
    const deaf = inbox.onOffer((offered) => {
      const take = accept;
      accept = undefined;
      take?.(offered);
      return take !== undefined;
    });
    const offered = async (): Promise<CallEpoch | undefined> => {
      if (busy >= announcement.slots || draining.signal.aborted) return undefined;
      const over = new AbortController();
      let next: CallEpoch | undefined;
      accept = (one) => {
        next = one;
        over.abort();
      };
      await pause(OFFER_WAIT_MS, AbortSignal.any([over.signal, draining.signal]));
      accept = undefined;
      return next;
    };
    try {
      for (let at: CallEpoch | undefined = first; at; ) {
        const call: CallEpoch = at;
        const mayContinue = await work(call).catch(() => giveUp(call).then(() => false));
        at = mayContinue ? await offered() : undefined;
      }
    } finally {
      deaf();
      busy -= 1;
    }
  };
  /** Gives back a task that this worker cannot continue, once the database is reachable again. */
  const giveUp = async (at: CallEpoch): Promise<void> => {
    do {
      const given = await table.giveBack(at).then(
        () => true,
        () => false,
      );
      if (given) return;
    } while (await pause(GIVE_BACK_AGAIN_MS, draining.signal));
  };
  const leave = await presence.enter();
  const listener = await listen({
    database,
    worker: presence.id,
    class: name,
    slots: announcement.slots,
    pollMs,
    protocols: announcement.protocols,
    work: (call, epoch) => serve({ call, epoch }),
  });
  await announceChange(connection);
  return {
    id: presence.id,
    class: name,
    working: () => [...open.keys()].map((key) => key.slice(key.indexOf(" ") + 1)),
    onDrain: (told) => {
      const timer = setInterval(() => {
        if (!presence.draining()) return;
        clearInterval(timer);
        told();
      }, 500);
      draining.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    },
    drain: async (graceMs) => {
      draining.abort();
      await database.query("update subcrew.processes set draining = true where id = $1", [presence.id]).catch(() => {});
      const late = setTimeout(() => {
        for (const handBack of open.values()) handBack().catch(() => {});
      }, graceMs);
      const ended = new AbortController();
      const rest = Promise.all(spares).then(() => ended.abort());
      await Promise.all([
        listener.stop(graceMs + LAST_MS),
        Promise.race([rest, pause(graceMs + LAST_MS, ended.signal)]),
      ]);
      clearTimeout(late);
      await leave();
      await announceChange(connection);
    },
  };
}

const GIVE_BACK_AGAIN_MS = 1_000;
/** How long a task from the queue waits for a slot of this worker. Then its run may find another worker. */
const FULL_MS = 1_000;
/** How long a free slot waits for the next task of the same run. */
const OFFER_WAIT_MS = 100;
/** The time for tasks to end after they were given back. */
const LAST_MS = 3_000;

const announceChange = async ({ database }: Connection): Promise<void> => {
  await database.query("select pg_notify($1, '')", [PROCESSES_CHANNEL]).catch(() => {});
};

/**
 * Gives a task of a draining worker back to its run when the task reserves the cost of its next model turn. At this
 * point nothing has to be repeated.
 */
function betweenTurns(context: PerformContext, draining: AbortSignal, handBack: () => Promise<void>): PerformContext {
  const { reserve } = context.budget;
  return {
    ...context,
    budget: {
      ...context.budget,
      reserve: async (...asked) => {
        if (!draining.aborted) return reserve(...asked);
        await handBack();
        return new Promise(() => {}); // this worker gave the task back, so the task must not continue in this process
      },
    },
  };
}
