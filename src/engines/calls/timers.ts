import type { Engine } from "../../core/task/engine.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { Database } from "../postgres/database.ts";

/** Waits whose end is in a table: a coordinator that takes the run over waits only for the rest. */
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
    // An interrupted wait keeps its end time, so that the next coordinator waits only for the rest. It is deleted with the run.
    if (left > 0 && !(await pause(left, signal))) return;
    await database.query("delete from subcrew.timers where key = $1", [key]).catch(() => {});
  };
}
