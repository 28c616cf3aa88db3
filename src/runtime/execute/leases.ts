import { blockersOf, grantable, type Lease, type LeaseWish, leaseAbove } from "../../core/rules/lease.ts";
import { defined } from "../../core/text/defined.ts";

/** The leases of one run. Whoever wants one stands in line for it before it stands in line for anything else. */
export type Leases = Readonly<{
  /** `come` is called, with what gives the lease back, as soon as nobody else holds what it meets; often at once. */
  queue(lease: Lease, come: (release: () => void) => void): LeaseTicket;
  /** Who keeps a ticket waiting, and with which patterns. */
  blockers(ticket: LeaseTicket): ReturnType<typeof blockersOf>;
  /** Leaves the line. False: its turn has come, and the lease has to be given back. */
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
