import type { RunStore } from "../core/run/run-store.ts";
import type { Announcement } from "../core/task/placement.ts";
import { type Database, openDatabase } from "./postgres/database.ts";
import { createPresence, type Presence } from "./postgres/presence.ts";
import { createPostgresStore, type PostgresStore } from "./postgres/store.ts";
import { workerClassOf } from "./worker-class.ts";

/** A connected engine: its database, this process in it, and the runs. */
export type Connection = Readonly<{ database: Database; presence: Presence; store: PostgresStore }>;

/** What a worker says of itself; other processes only coordinate runs. */
export type WorkerRole = Readonly<{ role: string; announcement: Announcement }>;

/** Connects to an engine. `local`: the store of this machine for files that are needed only here. */
export function connectEngine(
  url: string,
  local: Pick<RunStore, "keep" | "file" | "local">,
  worker?: WorkerRole,
): Connection {
  const database = openDatabase(url);
  const presence = createPresence(
    database,
    worker && { ...worker, class: workerClassOf(worker.announcement), slots: worker.announcement.slots },
  );
  return { database, presence, store: createPostgresStore({ database, presence, local }) };
}
