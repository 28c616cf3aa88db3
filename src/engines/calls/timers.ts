import type { Engine } from "../../core/task/engine.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { Database } from "../postgres/database.ts";

/**
 * Waits whose end time is stored in a table, so that a coordinator that takes over a run waits only for the remaining
 * time.
 */
export function engineTimers(database: Database): Engine["sleep"] {
  return async (key, ms, signal) => {
    if (signal.aborted) return;
    const [row] = await database.query<{ left: number }>(
      `insert into subcrew.timers as t (key, until) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
       on conflict (key) do update set until = t.until
       returning (extract(epoch from until - clock_timestamp()) * 1000)::float8 as left`,
      [key, ms],
    );
    const left = row?.left ?? ms;
    // An interrupted wait keeps its end time for the next coordinator. It is deleted with the run.
    if (left > 0 && !(await pause(left, signal))) return;
    await database.query("delete from subcrew.timers where key = $1", [key]).catch(() => {});
  };
}
