import { blockersOf, grantable, type Lease, type LeaseWish, leaseAbove } from "../../core/rules/lease.ts";
import { defined } from "../../core/text/defined.ts";

/** The leases of one run. A task queues for its lease before it queues for a slot. */
export type Leases = Readonly<{
  /** `come` is called with the release function as soon as no overlapping lease is held; often at once. */
  queue(lease: Lease, come: (release: () => void) => void): LeaseTicket;
  /** The tasks that block a ticket, and their patterns. */
  blockers(ticket: LeaseTicket): ReturnType<typeof blockersOf>;
  /** Leaves the queue. False: the lease was already granted and must be released. */
  leave(ticket: LeaseTicket): boolean;
}>;

export type LeaseTicket = LeaseWish & Readonly<{ come: (release: () => void) => void }>;

export function createLeases(): Leases {
  const held = new Set<LeaseTicket>();
  let waiting: LeaseTicket[] = [];
  const hand = (): void => {
    for (const ticket of grantable([...held], waiting)) {
      waiting = waiting.filter((each) => each !== ticket);
      held.add(ticket);
      ticket.come(() => {
        if (held.delete(ticket)) hand();
      });
    }
  };
  return {
    queue: (lease, come) => {
      const under = leaseAbove([...held], lease.of);
      const ticket: LeaseTicket = { ...lease, come, ...defined({ under }) };
      waiting.push(ticket);
      hand();
      return ticket;
    },
    blockers: (ticket) => blockersOf(ticket, [...held, ...waiting.slice(0, Math.max(0, waiting.indexOf(ticket)))]),
    leave: (ticket) => {
      if (!waiting.includes(ticket)) return false;
      waiting = waiting.filter((each) => each !== ticket);
      hand();
      return true;
    },
  };
}
