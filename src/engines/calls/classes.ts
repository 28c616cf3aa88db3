import type { Announcement, WorkerClass } from "../../core/task/placement.ts";
import type { Database } from "../postgres/database.ts";
import { LIVING } from "../postgres/presence.ts";

/**
 * The classes of living workers (workers with the same capabilities form a class), with the number of tasks of each
 * class.
 */
export async function livingClasses(database: Database): Promise<readonly WorkerClass[]> {
  const rows = await database.query<{ class: string; announcement: Announcement; workers: number; load: number }>(
    `select p.class, (array_agg(p.announcement))[1] as announcement, count(*)::integer as workers,
       (select count(*)::integer from subcrew.calls c
        where c.class = p.class and c.state in ('placed', 'taken', 'stopping')) as load
     from subcrew.processes p
     where p.class is not null and not p.draining and p.${LIVING}
     group by p.class`,
  );
  return rows;
}
