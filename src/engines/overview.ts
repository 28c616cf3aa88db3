import type { QuotaLimits } from "../core/model/request-quota.ts";
import { defined } from "../core/text/defined.ts";
import type { Database } from "./postgres/database.ts";
import { type SchemaState, schemaState } from "./postgres/migrate.ts";
import { LIVING } from "./postgres/presence.ts";
import { announcementsArrive, POLLING } from "./postgres/probe-announcements.ts";
import { limitTable } from "./postgres/quota.ts";

/** The data that `subcrew engine status` prints. */
export type EngineOverview = Readonly<{
  shown: string;
  /** The software of the engine, and its version. */
  software: string;
  server: string;
  schema: SchemaState;
  processes: readonly ConnectedProcess[];
  /** Limits on model requests, by name; absent when the tables do not exist. */
  limits?: Readonly<Record<string, QuotaLimits>>;
  /**
   * True when database notifications arrive; otherwise processes poll once a second. Absent when the tables do not
   * exist.
   */
  announcements?: boolean;
  /** What works less well than it could. */
  notice?: string;
  /** The number of API keys that providers refuse now. */
  refusedKeys?: number;
  /** The number of runs; absent when the tables do not exist. */
  runs?: Readonly<{ kept: number; working: number; orphaned: number }>;
  /** Tasks for workers, by state; `parked` tasks are tasks that no worker can execute. */
  calls?: Readonly<{ placed: number; taken: number; parked: readonly ParkedCall[] }>;
}>;

/** A task that no connected worker can execute, and the reason. */
export type ParkedCall = Readonly<{ task: string; why: string }>;

/** A connected process, or a process that was silent for some time. */
export type ConnectedProcess = Readonly<{
  id: string;
  host: string;
  pid: number;
  role: string;
  class: string | null;
  slots: number;
  version: string;
  protocol: number;
  beatAgoMs: number;
  draining: boolean;
  alive: boolean;
}>;

const SOFTWARE = "Postgres";

export async function engineOverview(database: Database): Promise<EngineOverview> {
  const schema = await schemaState(database);
  const [{ server } = { server: "" }] = await database.query<{ server: string }>(
    "select current_setting('server_version') as server",
  );
  if (schema.applied === 0) return { shown: database.shown, software: SOFTWARE, server, schema, processes: [] };
  const announcements = await announcementsArrive(database);
  const notice = announcements ? undefined : POLLING;
  const processes = await database.query<ConnectedProcess>(
    `select id, host, pid, role, class, slots, version, protocol, draining, ${LIVING} as alive,
       (extract(epoch from clock_timestamp() - beat) * 1000)::integer as "beatAgoMs"
     from subcrew.processes order by role, id`,
  );
  const [runs] = await database.query<{ kept: number; working: number; orphaned: number }>(
    `select count(*)::integer as kept,
       count(*) filter (where p.id is not null)::integer as working,
       count(*) filter (where r.owner is not null and p.id is null)::integer as orphaned
     from subcrew.runs r left join subcrew.processes p on p.id = r.owner and p.${LIVING}`,
  );
  if (schema.applied < schema.known)
    return {
      shown: database.shown,
      software: SOFTWARE,
      server,
      schema,
      announcements,
      ...defined({ notice }),
      processes,
      ...(runs && { runs }),
    };
  const limits = Object.fromEntries(await limitTable(database).read());
  const [refused] = await database.query<{ keys: number }>(
    `select count(*)::integer as keys from subcrew.holds
     where (hold->>'probeAt')::float8 > (extract(epoch from clock_timestamp() - interval '10 minutes') * 1000)`,
  );
  const refusedKeys = refused?.keys ?? 0;
  const [count] = await database.query<{ placed: number; taken: number }>(
    `select count(*) filter (where state = 'placed')::integer as placed,
       count(*) filter (where state in ('taken', 'stopping'))::integer as taken from subcrew.calls`,
  );
  const parked = await database.query<ParkedCall>(
    "select call as task, coalesce(why, '') as why from subcrew.calls where state = 'parked' order by changed limit 100",
  );
  return {
    shown: database.shown,
    software: SOFTWARE,
    server,
    schema,
    announcements,
    ...defined({ notice }),
    processes,
    limits,
    refusedKeys,
    ...(runs && { runs }),
    ...(count && { calls: { ...count, parked } }),
  };
}
