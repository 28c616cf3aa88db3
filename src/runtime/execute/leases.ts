import { blockersOf, grantable, type Lease, type LeaseWish, leaseAbove } from "../../core/rules/lease.ts";
import type { LeaseBlocker, LeaseOptions } from "../../core/run/run-store.ts";
import { defined } from "../../core/text/defined.ts";
import { stopped } from "../async/cancel.ts";
import type { Release } from "../async/slots.ts";

/**
 * The leases of one run: the files that its tasks declare to write. A task queues for its lease before it queues for a
 * slot.
 */
export type Leases = Readonly<{
  /** Queues for a lease; if nothing overlaps, it is granted at once. */
  queue(lease: Lease, waiter: LeaseWaiter): LeaseTicket;
  /** Leaves the queue. False: the lease was already granted and must be released. */
  leave(ticket: LeaseTicket): boolean;
  /** Resolves when the release of all leases is visible to other runs. */
  over(): Promise<void>;
}>;

export type LeaseWaiter = Readonly<{
  /** Called with the release function as soon as no overlapping lease is held, in this run or in another. */
  come(release: Release): void;
  /** Called with the tasks whose leases overlap, for which this task has to wait. */
  waits(blockers: readonly LeaseBlocker[]): void;
  /** Called when the lease cannot be requested, because the store cannot be written. */
  failed(error: unknown): void;
}>;

export type LeaseTicket = LeaseWish & Readonly<{ waiter: LeaseWaiter }>;

/** Takes a lease that is visible to other runs. */
export type ShareLease = (lease: Lease, options: LeaseOptions) => Promise<(() => Promise<void>) | undefined>;

/**
 * Creates the leases of a run. A lease is granted within the run first, then among all runs, unless the lease of a
 * parent task already contains it. Without `share` there are no other runs.
 */
export function createLeases(share?: ShareLease): Leases {
  const held = new Set<LeaseTicket>();
  /** Tasks that wait for leases of other runs. */
  const sharing = new Map<LeaseTicket, AbortController>();
  const releasing = new Set<Promise<unknown>>();
  let waiting: LeaseTicket[] = [];
  const free = (ticket: LeaseTicket): void => {
    if (held.delete(ticket)) hand();
  };
  const hand = (): void => {
    for (const ticket of grantable([...held], waiting)) {
      waiting = waiting.filter((each) => each !== ticket);
      held.add(ticket);
      if (!share || ticket.under !== undefined) ticket.waiter.come(() => free(ticket));
      else void shareLease(ticket, share);
    }
  };
  const shareLease = async (ticket: LeaseTicket, ask: ShareLease): Promise<void> => {
    const { of, globs, waiter } = ticket;
    const controller = new AbortController();
    sharing.set(ticket, controller);
    try {
      const release = await ask({ of, globs }, { waits: waiter.waits, signal: controller.signal });
      if (!sharing.delete(ticket)) {
        await release?.();
        return;
      }
      waiter.come(() => {
        const released = (release?.() ?? Promise.resolve())
          .catch(() => {}) // a lease that could not be released ends with this process at the latest
          .finally(() => {
            releasing.delete(released);
            free(ticket);
          });
        releasing.add(released);
      });
    } catch (error) {
      if (!sharing.delete(ticket)) return;
      free(ticket);
      waiter.failed(error);
    }
  };
  return {
    over: async () => void (await Promise.all(releasing)),
    queue: (lease, waiter) => {
      const under = leaseAbove([...held], lease.of);
      const ticket: LeaseTicket = { ...lease, waiter, ...defined({ under }) };
      waiting.push(ticket);
      hand();
      const at = waiting.indexOf(ticket);
      if (at >= 0) waiter.waits(blockersOf(ticket, [...held, ...waiting.slice(0, at)]));
      return ticket;
    },
    leave: (ticket) => {
      const controller = sharing.get(ticket);
      if (controller) {
        sharing.delete(ticket);
        controller.abort(stopped("the task was stopped"));
        free(ticket);
        return true;
      }
      if (!waiting.includes(ticket)) return false;
      waiting = waiting.filter((each) => each !== ticket);
      hand();
      return true;
    },
  };
}
