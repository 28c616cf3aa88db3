import type { WorkspaceLeases } from "../../core/run/run-store.ts";
import { createWorkspaceLeases, type LeaseEntry } from "../../runtime/leases/workspace-leases.ts";
import type { Database, RunStatement } from "./database.ts";
import { LIVING, type Presence } from "./presence.ts";

/** The number of the advisory lock that lets only one process at a time change leases. */
const LEASES_LOCK = 7_302_262;

type LeaseRow = { entry: LeaseEntry };

/**
 * Leases (files that tasks declare to write) in a table that all machines share. Leases of dead processes do not count.
 */
export function postgresLeases(database: Database, presence: Presence): WorkspaceLeases["lease"] {
  const living = async (run: RunStatement): Promise<LeaseEntry[]> => {
    const rows = await run<LeaseRow>(
      `select l.entry from subcrew.leases l join subcrew.processes p on p.id = l.process where p.${LIVING} order by l.place`,
    );
    return rows.map(({ entry }) => entry);
  };
  const lease = createWorkspaceLeases<LeaseEntry>({
    sign: async (entry) => entry,
    read: () => living(database.query),
    change: (make) =>
      database.transaction(async (run) => {
        await run("select pg_advisory_xact_lock($1)", [LEASES_LOCK]);
        const before = await living(run);
        const after = make(before);
        const kept = new Set(after.map(({ id }) => id));
        const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
        if (gone.length > 0) await run("delete from subcrew.leases where id = any($1)", [gone]);
        for (const entry of after) {
          if (before.some((known) => known.id === entry.id && known.held === entry.held)) continue;
          await run(
            `insert into subcrew.leases (id, process, entry) values ($1, $2, $3)
             on conflict (id) do update set entry = excluded.entry`,
            [entry.id, presence.id, JSON.stringify(entry)],
          );
        }
      }),
  });
  return async (wish, options) => {
    const leave = await presence.enter();
    const release = await lease(wish, options).catch(async (error: unknown) => {
      await leave();
      throw error;
    });
    if (release)
      return async () => {
        await release();
        await leave();
      };
    await leave();
    return undefined;
  };
}
