import { pickingJoins } from "../../core/schedule/contest.ts";
import type { Schedule, ScheduleEntry } from "../../core/schedule/schedule.ts";
import { onAbort } from "../async/on-abort.ts";

/**
 * The places for winners in races: a join that uses only some of its dependencies has as many places as it needs. A
 * contender (competing task) claims a place before its changes are applied, so that losers change nothing.
 */
export type Claims = Readonly<{
  /**
   * True once the node has a winner's place: it wins if it succeeds. False: all places are taken. Always true for a
   * node that is not in a race.
   */
  claim(id: string, signal: AbortSignal): Promise<boolean>;
  /**
   * True when the node competes in a race and has no winner's place yet: it must claim a place before it may succeed.
   */
  mustWait(id: string): boolean;
  /** Gives back the winner's place that an ended node had claimed. */
  release(id: string): void;
}>;

/** Reads and records which contenders (tasks of a race) have a winner's place. */
export type ClaimRecord = Readonly<{
  /** True when the journal recorded this contender as a winner of its race before the run was interrupted. */
  had(id: string): boolean;
  /** Records that a contender has a winner's place; resolves when the record is safely stored. */
  record(id: string): Promise<void>;
}>;

/**
 * The winners' places of one plan. A place is recorded before the changes of its contender are applied, and given to
 * the same contender after a resume. Otherwise another contender could win after the resume, and the workspace would
 * contain the changes of both.
 */
export function createClaims(all: Schedule, { had, record }: ClaimRecord): Claims {
  const held = new Map<string, readonly ScheduleEntry[]>();
  const recorded = new Set<string>();
  for (const id of all.entries.keys()) {
    const joins = had(id) ? pickingJoins(all, id) : [];
    if (joins.length > 0) held.set(id, joins);
  }
  /**
   * Records a winner's place, then grants it. A run that is being paused records nothing, so the place is not granted.
   */
  const given = async (id: string, won: boolean): Promise<boolean> => {
    if (!won || recorded.has(id) || pickingJoins(all, id).length === 0) return won;
    recorded.add(id);
    return record(id).then(
      () => true,
      () => false,
    );
  };
  const waiting = new Set<{ id: string; decide(won: boolean): void }>();

  const heldOf = (join: ScheduleEntry): number =>
    [...held].filter(([id, joins]) => joins.includes(join) && all.entries.get(id)?.state !== "settled").length;
  const hasRoom = (join: ScheduleEntry): boolean => {
    const count = join.node.kind === "join" ? (join.node.count ?? 1) : 0;
    return join.state !== "settled" && join.good + heldOf(join) < count;
  };
  const take = (id: string): boolean | undefined => {
    if (held.has(id)) return true;
    const joins = pickingJoins(all, id);
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
      if (won !== undefined) return given(id, won);
      return new Promise<boolean>((resolve) => {
        const entry = { id, decide: (result: boolean): void => (forget(), resolve(result)) };
        const forget = onAbort(signal, () => {
          waiting.delete(entry);
          resolve(false);
        });
        waiting.add(entry);
      }).then((result) => given(id, result));
    },
    mustWait: (id) => held.size > 0 && take(id) === undefined,
    release: (id) => {
      if (held.delete(id) || waiting.size > 0) retry();
    },
  };
}
