import type { Announcement, WorkerClass } from "../../core/task/placement.ts";
import type { Database } from "../postgres/database.ts";
import { LIVING } from "../postgres/presence.ts";

/** The maximum age of the list of workers; the load of a class also includes later placements of this process. */
const MAX_AGE_MS = 500;

/** The classes of living workers (workers with the same capabilities form a class), with their load. */
export type ClassList = Readonly<{
  /** `isFresh`: the load is read from the database now. */
  read(isFresh: boolean): Promise<readonly WorkerClass[]>;
  /** Counts a task towards the load of a class while it is placed, and afterwards until the database counts it. */
  placing<T>(name: string | undefined, place: () => Promise<T>): Promise<T>;
}>;

type Placing = { readonly class: string; placedAt?: number };
type Snapshot = Readonly<{ at: number; rows: Promise<readonly WorkerClass[]> }>;

export function createClassList(database: Database): ClassList {
  let last: Snapshot | undefined;
  let own: readonly Placing[] = [];
  const isCounted = ({ placedAt = Number.POSITIVE_INFINITY }: Placing, at: number): boolean => placedAt < at;
  return {
    read: async (isFresh) => {
      const now = performance.now();
      const isOld = last === undefined || now - last.at >= MAX_AGE_MS;
      const snapshot: Snapshot = last && !isFresh && !isOld ? last : { at: now, rows: livingClasses(database) };
      if (snapshot !== last) {
        last = snapshot;
        snapshot.rows.catch(() => {
          if (last === snapshot) last = undefined;
        });
      }
      const rows = await snapshot.rows;
      if (last === snapshot) own = own.filter((one) => !isCounted(one, snapshot.at));
      return rows.map((row) => ({
        ...row,
        load: row.load + own.filter((one) => one.class === row.class && !isCounted(one, snapshot.at)).length,
      }));
    },
    placing: async (name, place) => {
      if (name === undefined) return place();
      const one: Placing = { class: name };
      own = [...own, one];
      try {
        return await place();
      } finally {
        one.placedAt = performance.now();
      }
    },
  };
}

/** The classes of living workers, with the number of tasks of each class that need a slot. */
async function livingClasses(database: Database): Promise<readonly WorkerClass[]> {
  return database.query<{ class: string; announcement: Announcement; workers: number; load: number }>(
    `select p.class, (array_agg(p.announcement))[1] as announcement, count(*)::integer as workers,
       (select count(*)::integer from subcrew.calls c
        where c.class = p.class and c.state in ('placed', 'taken', 'stopping') and not c.waits) as load
     from subcrew.processes p
     where p.class is not null and not p.draining and p.${LIVING}
     group by p.class`,
  );
}
