import { onAbort } from "./on-abort.ts";

/** Limits how many tasks run at once. A slot is released while its holder waits for children. */
export class Slots {
  readonly #limit: number;
  readonly #parent: Slots | undefined;
  #taken = 0;
  /** Queue of tickets; cancelled tickets stay without a `come` until they are reached. */
  #waiting: (Ticket | undefined)[] = [];
  #next = 0;

  /** With a parent, a slot here also takes a slot there. */
  constructor(limit: number, parent?: Slots) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Waits for a slot. Resolves to its release, or to `undefined` when the signal aborts first. */
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

  /** Queues for a slot; `come` is called with the release function, at once when a slot is free. */
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

  /** Called when the ticket has a slot here; with a parent it then waits for a slot there. */
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

  /** Passes the slot to the first waiter, or frees it. */
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

/** A queue entry. `come` is set while it waits; `outer` is its entry in the parent's queue. */
export type Ticket = { come: ((release: Release) => void) | undefined; outer: Ticket | undefined };

const nothing: Release = () => {};
