import { defined } from "../text/defined.ts";
import type { Parking } from "./event.ts";
import { isParked } from "./run-status.ts";
import type { State } from "./state.ts";

/**
 * Why a run is parked (all its tasks wait before their next turn), until when, what helps, and the command that resumes
 * the run now.
 */
export type ParkedRun = Parking & Readonly<{ command: string; tasks: number }>;

/** Why a run is parked: the latest recorded reason. `undefined` while any task works. */
export function parkedRun(state: State): ParkedRun | undefined {
  if (!isParked(state)) return undefined;
  return lastParking(state);
}

/** The length in milliseconds below which a wait is not reported to clients. */
const SHORT_MS = 1_500;

/** True for a run that stays parked long enough to report it to a client. */
export function isParkedLong(state: State, now: number): boolean {
  const parked = parkedRun(state);
  return parked !== undefined && (parked.nextTry ?? Number.POSITIVE_INFINITY) - now > SHORT_MS;
}

/** Why the tasks of a paused or interrupted run were parked. */
export function lastParking(state: State): ParkedRun | undefined {
  const all = [...state.nodes.values()].flatMap(({ parked, status }) =>
    parked && status === "running" ? [parked] : [],
  );
  const last = all.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
  if (!last) return undefined;
  const { why, waitsFor, helps, until, nextTry } = last;
  return {
    why,
    waitsFor,
    helps,
    ...defined({ until, nextTry }),
    command: `subcrew resume ${state.run}`,
    tasks: all.length,
  };
}

const timeOf = ({ until, nextTry }: Parking): number => nextTry ?? until ?? Number.POSITIVE_INFINITY;

/** When a parked run continues by itself, for logs; empty if it does not. */
export function parkedUntil({ until, nextTry }: Parking): string {
  if (until !== undefined) return `until ${new Date(until).toISOString()}`;
  return nextTry === undefined ? "" : `next try at ${new Date(nextTry).toISOString()}`;
}
