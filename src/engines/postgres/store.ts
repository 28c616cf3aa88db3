import type { IndexedResult, RunStore } from "../../core/run/run-store.ts";
import { type ObjectStore, openArtifacts, runAgents } from "./artifacts.ts";
import { runCommands } from "./commands.ts";
import type { Database } from "./database.ts";
import { postgresLeases } from "./leases.ts";
import { demandSchema } from "./migrate.ts";
import { ownRuns, type PostgresOwnership } from "./own-runs.ts";
import { runOutputs } from "./outputs.ts";
import type { Presence } from "./presence.ts";
import { recordedEvents } from "./records.ts";

/** The runs in the database of an engine. The owner of a run can link its events to the events of workers. */
export type PostgresStore = RunStore & Pick<PostgresOwnership, "open" | "writer" | "handOver" | "takeOver">;

/** The parameters of a store. `local` is the store of this machine, for files that are needed only on this machine. */
export type StoreParts = Readonly<{
  database: Database;
  presence: Presence;
  local: Pick<RunStore, "keep" | "file" | "hasFile" | "local" | "remove">;
  /** The store for results that are too large for the database. */
  objects?: ObjectStore;
}>;

/** The store of runs in the database of an engine. */
export function createPostgresStore({ database: raw, presence, local, objects }: StoreParts): PostgresStore {
  const database = withSchema(raw);
  const artifacts = openArtifacts(database, objects);
  const records = recordedEvents(database);
  const ownership = ownRuns(database, presence, async (run) => {
    const [row] = await database.query("select 1 from subcrew.events where run = $1 limit 1", [run]);
    return row ? (await records.readWhole(run)).events : [];
  });
  return {
    ...records,
    ...ownership,
    ...runCommands(database, presence),
    ...runOutputs(database, artifacts, local),
    ...runAgents(database),
    lease: postgresLeases(database, presence),
    place: (run) => `${raw.shown} (${run})`,
    reusable: async (key) => {
      const rows = await database.query<{ key: string; run: string; path: string; at: string }>(
        `select key, run, path, at from subcrew.results r where key = $1
         and exists (select from subcrew.runs where run = r.run) order by id`,
        [key],
      );
      return rows.map((row) => ({ ...row, at: Number(row.at) }));
    },
    addReusable: async ({ key, run, path, at }: IndexedResult) => {
      await database
        .query(
          `insert into subcrew.results (key, run, path, at) values ($1, $2, $3, $4)
           on conflict (key, run, path, at) do nothing`,
          [key, run, path, at],
        )
        .catch(() => {});
    },
    remove: async (run) => {
      await database.transaction(async (query) => {
        for (const table of ["events", "outputs", "run_agents", "documents", "commands", "runs"])
          await query(`delete from subcrew.${table} where run = $1`, [run]);
      });
      await local.remove(run).catch(unlessMissing); // the files on other machines are not deleted
    },
    sweep: async () => {
      await database.query(
        "delete from subcrew.results r where not exists (select from subcrew.runs where run = r.run)",
      );
      await database.query(
        `delete from subcrew.run_agents a where created < clock_timestamp() - interval '1 hour'
         and not exists (select from subcrew.runs where run = a.run)`,
      );
      await artifacts.sweep();
    },
  };
}

/** Ignores the error that a run has no files on this machine; throws every other error. */
function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Checks the schema before the first statement, so that missing tables are reported as such. */
function withSchema(database: Database): Database {
  let checked: Promise<void> | undefined;
  const check = (): Promise<void> =>
    (checked ??= demandSchema(database).catch((error: unknown) => {
      checked = undefined;
      throw error;
    }));
  return {
    ...database,
    query: async (sql, values) => {
      await check();
      return database.query(sql, values);
    },
    transaction: async (work) => {
      await check();
      return database.transaction(work);
    },
  };
}
