import type { Schedule, ScheduleEntry } from "../../core/schedule/schedule.ts";
import { onAbort } from "../async/on-abort.ts";

/**
 * The places of the joins of a plan that pick among their needs. A contender claims a place before its effects count, so
 * that no contender that does not win changes anything.
 */
export type Claims = Readonly<{
  /** True once the node has a place: it wins if it now succeeds. False: others have all of them. At once true outside of a race. */
  claim(id: string, signal: AbortSignal): Promise<boolean>;
  /** True for a node that a join may pass over. */
  contends(id: string): boolean;
  /** True when a node has to claim a place before it may succeed, because another one holds it. */
  mustWait(id: string): boolean;
  /** The node has ended, and with it its claim. */
  release(id: string): void;
}>;

export function createClaims(all: Schedule): Claims {
  const held = new Map<string, readonly ScheduleEntry[]>();
  const waiting = new Set<{ id: string; decide(won: boolean): void }>();

  const heldOf = (join: ScheduleEntry): number =>
    [...held].filter(([id, joins]) => joins.includes(join) && all.entries.get(id)?.state !== "settled").length;
  const hasRoom = (join: ScheduleEntry): boolean => {
    const count = join.node.kind === "join" ? (join.node.count ?? 1) : 0;
    return join.state !== "settled" && join.good + heldOf(join) < count;
  };
  const take = (id: string): boolean | undefined => {
    if (held.has(id)) return true;
    const joins = picking(all, id);
    if (joins.length === 0) return true;
    if (joins.every(({ state }) => state === "settled")) return false;
    const open = joins.filter(hasRoom);
    if (open.length === 0) return undefined;
    held.set(id, open);
    return true;
  };
  const retry = (): void => {
    for (const each of waiting) {
      const won = take(each.id);
      if (won === undefined) continue;
      waiting.delete(each);
      each.decide(won);
    }
  };
  return {
    claim: (id, signal) => {
      const won = signal.aborted ? false : take(id);
      if (won !== undefined) return Promise.resolve(won);
      return new Promise((resolve) => {
        const entry = { id, decide: (result: boolean): void => (forget(), resolve(result)) };
        const forget = onAbort(signal, () => {
          waiting.delete(entry);
          resolve(false);
        });
        waiting.add(entry);
      });
    },
    contends: (id) => picking(all, id).length > 0,
    mustWait: (id) => held.size > 0 && take(id) === undefined,
    release: (id) => {
      if (held.delete(id) || waiting.size > 0) retry();
    },
  };
}

/** The joins that may pass a node over; none when something else needs its result in any case. */
function picking(all: Schedule, id: string): ScheduleEntry[] {
  const entry = all.entries.get(id);
  if (!entry || entry.dependents.length === 0 || all.roots.has(id)) return [];
  const joins = entry.dependents.map((dependent) => all.entries.get(dependent)!);
  return joins.every(({ node }) => node.kind === "join" && node.pick === "first") ? joins : [];
}
