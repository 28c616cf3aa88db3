import { onAbort } from "./on-abort.ts";

/** Limits how many tasks run at once. A task releases its slot while it waits for its subagents. */
export class Slots {
  readonly #limit: number;
  readonly #parent: Slots | undefined;
  #taken = 0;
  /** Queue of tickets; a cancelled ticket loses its callback `come` and stays in the queue until its turn. */
  #waiting: (Ticket | undefined)[] = [];
  #next = 0;

  /** Creates slots. With a parent, taking a slot also takes a slot of the parent. */
  constructor(limit: number, parent?: Slots) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Waits for a slot. Resolves with a function that releases it, or with `undefined` when the signal aborts first. */
  take(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      let deaf: (() => void) | undefined;
      const ticket = this.queue((release) => {
        deaf?.();
        resolve(release);
      });
      if (ticket.come)
        deaf = onAbort(signal, () => {
          this.leave(ticket);
          resolve(undefined);
        });
    });
  }

  /** Queues for a slot; the callback `come` gets the release function, at once when a slot is free. */
  queue(come: (release: Release) => void): Ticket {
    const ticket: Ticket = { come, outer: undefined };
    if (this.#taken < this.#limit) {
      this.#taken += 1;
      this.#reach(ticket);
    } else this.#waiting.push(ticket);
    return ticket;
  }

  /** Leaves the queue. False: the slot was already granted and must be released. */
  leave(ticket: Ticket): boolean {
    if (!ticket.come) return false;
    ticket.come = undefined;
    if (ticket.outer) {
      this.#parent?.leave(ticket.outer);
      this.#hand();
    }
    return true;
  }

  /** Called when a ticket gets one of these slots; with a parent it then waits for a slot of the parent. */
  #reach(ticket: Ticket): void {
    if (this.#parent) ticket.outer = this.#parent.queue((release) => this.#grant(ticket, release));
    else this.#grant(ticket, nothing);
  }

  #grant(ticket: Ticket, outer: Release): void {
    const { come } = ticket;
    ticket.come = undefined;
    let held = true;
    come?.(() => {
      if (!held) return;
      held = false;
      outer();
      this.#hand();
    });
  }

  /** Passes a released slot to the first waiting ticket; without a waiting ticket, the slot becomes free. */
  #hand(): void {
    while (this.#next < this.#waiting.length) {
      const ticket = this.#waiting[this.#next];
      this.#waiting[this.#next] = undefined;
      this.#next += 1;
      if (ticket?.come) return this.#reach(ticket);
    }
    this.#waiting = [];
    this.#next = 0;
    this.#taken -= 1;
  }
}

/** Releases a slot; further calls have no effect. */
export type Release = () => void;

/** A queue entry. The callback `come` is set while the entry waits; `outer` is its entry in the parent's queue. */
export type Ticket = { come: ((release: Release) => void) | undefined; outer: Ticket | undefined };

const nothing: Release = () => {};
