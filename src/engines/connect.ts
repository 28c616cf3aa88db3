import type { RequestQuota } from "../core/model/request-quota.ts";
import type { ProviderHolds } from "../runtime/ledgers/provider-holds.ts";
import { INSTALL_ENGINE } from "./dbos/sdk.ts";
import type { ConnectionParts } from "./engine-kind.ts";
import { type Database, openDatabase } from "./postgres/database.ts";
import { engineHolds } from "./postgres/holds.ts";
import { defined } from "../core/text/defined.ts";
import { objectsNamedIn } from "./objects/open-objects.ts";
import { createPresence, type Presence } from "./postgres/presence.ts";
import { engineQuota } from "./postgres/quota.ts";
import { createPostgresStore, type PostgresStore } from "./postgres/store.ts";
import { workerClassOf } from "./worker-class.ts";

/**
 * A connection to an engine (the database that several machines share): its database, this process's entry in the table
 * of processes, the run store, and the limits that all processes share.
 */
export type Connection = Readonly<{
  database: Database;
  presence: Presence;
  store: PostgresStore;
  holds: ProviderHolds;
  quota: RequestQuota;
}>;

/** Connects to an engine (the database that several machines share). */
export function connectEngine(url: string, { local, worker, env = {} }: ConnectionParts): Connection {
  const database = openDatabase(url, { install: INSTALL_ENGINE });
  const presence = createPresence(
    database,
    worker && { ...worker, class: workerClassOf(worker.announcement), slots: worker.announcement.slots },
  );
  return {
    database,
    presence,
    store: createPostgresStore({ database, presence, local, ...defined({ objects: objectsNamedIn(env) }) }),
    holds: engineHolds(database, presence),
    quota: engineQuota(database, presence),
  };
}
