import { type ContextParts, taskContext } from "../core/task/task-context.ts";
import { serveParent } from "../runtime/channel/child-side.ts";
import { pause, stopped } from "../runtime/async/cancel.ts";
import { Slots } from "../runtime/async/slots.ts";
import { YieldingSlot } from "../runtime/async/yielding-slot.ts";
import { type CallEpoch, type CallTable, callTable } from "./calls/call-table.ts";
import { createInbox, type Inbox } from "./calls/inbox.ts";
import { workerChannel } from "./calls/task-channel.ts";
import type { Connection } from "./connect.ts";
import type { WorkerParts } from "./engine-kind.ts";
import { workerClassOf } from "./worker-class.ts";

export type WorkerTaskParts = WorkerParts & Readonly<{ connection: Connection }>;

/** The tasks of one worker: takes them, executes them, and gives them back when the worker ends. */
export class WorkerTasks {
  readonly #parts: WorkerTaskParts;
  readonly #table: CallTable;
  readonly #inbox: Inbox;
  readonly #slots: Slots;
  readonly #draining = new AbortController();
  /** The tasks that this worker has taken or is taking. */
  readonly #held = new Set<string>();
  /** For each task that the worker is executing: gives it back. */
  readonly #handBack = new Map<string, () => Promise<void>>();
  /** How many tasks of this worker wait for their subagents, and the tasks that work in their place. */
  #waiting = 0;
  readonly #spares = new Set<Promise<unknown>>();
  #isTakingSpares = false;
  /** How many tasks of the queue the worker is executing. */
  #busy = 0;

  constructor(parts: WorkerTaskParts) {
    const { database, presence } = parts.connection;
    this.#parts = parts;
    this.#table = callTable(database);
    this.#inbox = createInbox(database, presence.id, "mail");
    this.#slots = new Slots(parts.announcement.slots);
  }

  /** Aborts when the worker drains. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** The keys of the tasks that the worker is executing. */
  working(): readonly string[] {
    return [...this.#handBack.keys()].map((key) => key.slice(key.indexOf(" ") + 1));
  }

  /** Takes no more tasks. Each running task ends or is given back before its next model turn. */
  drain(): void {
    this.#draining.abort();
  }

  /** Gives back the running tasks without waiting for their next model turns. */
  handBackAll(): void {
    for (const handBack of this.#handBack.values()) handBack().catch(() => {});
  }

  /** Waits for the tasks that were taken beside the queue, at most for the given time. */
  async sparesEnd(ms: number): Promise<void> {
    const ended = new AbortController();
    const rest = Promise.all(this.#spares).then(() => ended.abort());
    await Promise.race([rest, pause(ms, ended.signal)]);
  }

  /**
   * Executes a task from the queue, then the tasks that its run offers next, so that the next task of a chain need not
   * wait for the next poll. A worker without another free slot does not wait for an offer.
   */
  async serve(first: CallEpoch): Promise<void> {
    this.#busy += 1;
    const offers = new Offers(this.#inbox);
    try {
      for (let at: CallEpoch | undefined = first; at; ) {
        const call: CallEpoch = at;
        const mayContinue = await this.#work(call).catch(() => this.#giveUp(call).then(() => false));
        const hasRoom = this.#busy < this.#parts.announcement.slots && !this.draining.aborted;
        at = mayContinue && hasRoom ? await offers.next(this.draining) : undefined;
      }
    } finally {
      offers.close();
      this.#busy -= 1;
    }
  }

  /** Executes a task. Returns true when it ran to its end; its run may then have the next task for this worker. */
  async #work(at: CallEpoch, isSpare = false): Promise<boolean> {
    const key = keyOf(at);
    if (this.#held.has(key)) return false; // the same task was both offered directly and queued
    this.#held.add(key);
    const over = new AbortController();
    const slot = new YieldingSlot(this.#slots, over.signal, { onWait: (isWaiting) => this.#waits(at, isWaiting) });
    try {
      const patience = AbortSignal.any([this.draining, AbortSignal.timeout(FULL_MS)]);
      if (await slot.open(patience)) return await this.#workOn(at, { slot, over: over.signal });
      // A task that waited for its subagents has taken its slot again meanwhile.
      if (!isSpare) await this.#table.giveBack(at);
      return false;
    } finally {
      if (slot.isWaiting) this.#waits(at, false);
      over.abort();
      slot.release();
      this.#held.delete(key);
    }
  }

  /**
   * Gives a task of a draining worker back to its run before its next model turn. At this point nothing has to be
   * repeated.
   */
  async #leave(handBack: () => Promise<void>): Promise<void> {
    if (!this.draining.aborted) return;
    await handBack();
    await new Promise(() => {}); // this worker gave the task back, so the task must not continue in this process
  }

  async #workOn(at: CallEpoch, yielding: ContextParts["yielding"]): Promise<boolean> {
    const { connection, announcement, perform } = this.#parts;
    const { database, presence } = connection;
    if (this.draining.aborted) {
      await this.#table.giveBack(at);
      return false;
    }
    const taken = await this.#table.take(at, { worker: presence.id, class: workerClassOf(announcement) });
    if (!taken) return false;
    const channel = workerChannel(database, this.#inbox, at);
    const stop = new AbortController();
    const handBack = async (): Promise<void> => {
      await channel.flushed();
      channel.cut();
      await this.#table.giveBack(at);
      stop.abort(stopped("the worker ends"));
    };
    this.#handBack.set(keyOf(at), handBack);
    // The next check of the worker finds that it no longer has the task, and stops the task.
    channel.onOrphaned(() => void this.#table.giveBack(at).catch(() => {}));
    channel.deliver({ type: "job", job: taken.job });
    await serveParent(
      channel,
      (job, context) => perform(job, taskContext(context, { yielding, beforeTurn: () => this.#leave(handBack) })),
      stop.signal,
    );
    this.#handBack.delete(keyOf(at));
    await channel.close();
    if (channel.isFenced()) await this.#table.giveBack(at); // this has no effect when the task was already given to another worker
    return taken.job.isAlone === true && !channel.isFenced() && !stop.signal.aborted;
  }

  /** Called when a task starts to wait for its subagents, and when it no longer does. */
  #waits(at: CallEpoch, isWaiting: boolean): void {
    this.#waiting += isWaiting ? 1 : -1;
    this.#table.waits(at, isWaiting).catch(() => {}); // it only makes the choice of a worker better
    if (isWaiting && !this.#isTakingSpares) void this.#takeSpares();
  }

  /**
   * Takes tasks beside the queue while tasks wait for their subagents, because the queue counts those tasks as running.
   * Without this, subagents would wait for the slots of the tasks that wait for them.
   */
  async #takeSpares(): Promise<void> {
    const { announcement, pollMs } = this.#parts;
    const name = workerClassOf(announcement);
    this.#isTakingSpares = true;
    while (this.#waiting > 0 && !this.draining.aborted) {
      const room = this.#waiting - this.#spares.size;
      for (const at of room > 0 ? await this.#table.placed(name, room).catch(() => []) : []) {
        const spare = this.#work(at, true)
          .catch(() => this.#giveUp(at))
          .finally(() => this.#spares.delete(spare));
        this.#spares.add(spare);
      }
      await pause(pollMs, this.draining);
    }
    this.#isTakingSpares = false;
  }

  /** Gives back a task that this worker cannot continue, once the database is reachable again. */
  async #giveUp(at: CallEpoch): Promise<void> {
    do {
      const given = await this.#table.giveBack(at).then(
        () => true,
        () => false,
      );
      if (given) return;
    } while (await pause(GIVE_BACK_AGAIN_MS, this.draining));
  }
}

const GIVE_BACK_AGAIN_MS = 1_000;
/** How long a task from the queue waits for a slot of this worker. Then its run may find another worker. */
const FULL_MS = 1_000;
/** How long a free slot waits for the next task of the same run. */
const OFFER_WAIT_MS = 100;

const keyOf = ({ call, epoch }: CallEpoch): string => `${epoch} ${call}`;

/** The tasks that runs offer to this worker directly. Each is taken by one slot that waits for an offer. */
class Offers {
  readonly close: () => void;
  #accept: ((offered: CallEpoch) => void) | undefined;

  constructor(inbox: Inbox) {
    this.close = inbox.onOffer((offered) => {
      const accept = this.#accept;
      this.#accept = undefined;
      accept?.(offered);
      return accept !== undefined;
    });
  }

  /** Waits a short time for an offer. */
  async next(stop: AbortSignal): Promise<CallEpoch | undefined> {
    const over = new AbortController();
    let next: CallEpoch | undefined;
    this.#accept = (offered) => {
      next = offered;
      over.abort();
    };
    await pause(OFFER_WAIT_MS, AbortSignal.any([over.signal, stop]));
    this.#accept = undefined;
    return next;
  }
}
