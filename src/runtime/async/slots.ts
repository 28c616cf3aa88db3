import { onAbort } from "./on-abort.ts";

/** How many tasks may run at once. A slot is handed back while its holder waits for children. */
export class Slots {
  readonly #limit: number;
  readonly #parent: Slots | undefined;
  #taken = 0;
  /** Tickets in order; those who left stay without a `come` until they are reached. */
  #waiting: (Ticket | undefined)[] = [];
  #next = 0;

  /** With a parent, whoever takes a slot here holds one there, too. */
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

  /** Stands in line for a slot; `come` is called with its release, at once when one is free. All that waits is the ticket. */
  queue(come: (release: Release) => void): Ticket {
    const ticket: Ticket = { come, outer: undefined };
    if (this.#taken < this.#limit) {
      this.#taken += 1;
      this.#reach(ticket);
    } else this.#waiting.push(ticket);
    return ticket;
  }

  /** Leaves the line. False: its turn has come, and the slot has to be given back. */
  leave(ticket: Ticket): boolean {
    if (!ticket.come) return false;
    ticket.come = undefined;
    if (ticket.outer) {
      this.#parent?.leave(ticket.outer);
      this.#hand();
    }
    return true;
  }

  /** There is a slot here for this ticket; with a parent it waits for one there. */
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

  /** Gives the slot to the one who waits longest, or back. */
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

/** Gives a slot back; calling it again does nothing. */
export type Release = () => void;

/** A place in the line. `come` is there for as long as it waits, `outer` is its place in the parent's line. */
export type Ticket = { come: ((release: Release) => void) | undefined; outer: Ticket | undefined };

const nothing: Release = () => {};
