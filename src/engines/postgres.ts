import { orphanedRuns, reap, releaseStopped } from "./calls/reaper.ts";
import { connectEngine } from "./connect.ts";
import { listenToQueue, migrateDbos } from "./dbos/listen.ts";
import { dbosQueue } from "./dbos/queue.ts";
import { INSTALL_ENGINE } from "./dbos/sdk.ts";
import { coordinate } from "./distributed.ts";
import type { Coordination, EngineCode, EngineConnection, EngineManagement } from "./engine-kind.ts";
import { engineOverview } from "./overview.ts";
import { PROCESSES_CHANNEL } from "./postgres/channel-name.ts";
import { openDatabase } from "./postgres/database.ts";
import { demandSchema, migrate, schemaState } from "./postgres/migrate.ts";
import { PROTOCOL } from "./postgres/presence.ts";
import { announcementsArrive, POLLING } from "./postgres/probe-announcements.ts";
import { limitTable } from "./postgres/quota.ts";
import { ENGINE_ROLES, grantRoles } from "./roles.ts";
import { startWorker } from "./worker.ts";

/** The engine on a Postgres database, with queues of DBOS. */
export const postgresEngine: EngineCode = {
  protocols: [PROTOCOL],
  connect: (address, parts): EngineConnection => {
    const connection = connectEngine(address, parts);
    const { database, store, holds, quota } = connection;
    const queue = dbosQueue(database);
    let coordination: Coordination | undefined;
    return {
      store,
      holds,
      quota,
      coordination: async () => (coordination ??= coordinate(connection, queue)),
      startWorker: async (worker) => {
        await demandSchema(database);
        return startWorker({ ...worker, connection, listen: listenToQueue });
      },
      orphans: {
        returnTasks: () => reap(database, queue),
        list: (except) => orphanedRuns(database, except),
        release: (run, how) => releaseStopped(database, run, how),
        takeOver: (run) => store.takeOver(run),
        handOver: (run) => store.handOver(run),
      },
      warning: async () => ((await announcementsArrive(database)) ? undefined : POLLING),
      close: async () => {
        await queue.close();
        await database.close();
      },
    };
  },
  manage: (address): EngineManagement => {
    const database = openDatabase(address, { install: INSTALL_ENGINE });
    const limits = limitTable(database);
    return {
      overview: () => engineOverview(database),
      migrate: async () => {
        const steps = await migrate(database);
        await migrateDbos(database.url);
        const granted = await grantRoles(database);
        const { applied } = await schemaState(database);
        return "skipped" in granted
          ? { steps, applied, roles: [], skipped: granted.skipped }
          : { steps, applied, roles: Object.values(ENGINE_ROLES) };
      },
      limits: async () => {
        await demandSchema(database);
        return limits.read();
      },
      setLimits: async (name, to) => {
        await demandSchema(database);
        await limits.set(name, to);
      },
      workers: async (word) => {
        const found = await database.query<{ id: string }>(
          "select id from subcrew.processes where starts_with(id, $1) and role like '%work%' order by id",
          [word],
        );
        return found.map(({ id }) => id);
      },
      drain: async (worker) => {
        await database.query(
          "with marked as (update subcrew.processes set draining = true where id = $1 returning 1) select pg_notify($2, $1) from marked",
          [worker, PROCESSES_CHANNEL],
        );
      },
      close: () => database.close(),
    };
  },
};
