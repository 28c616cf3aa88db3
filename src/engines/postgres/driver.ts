import type { Client, Pool, PoolClient, PoolConfig } from "pg";
import { CrewError } from "../../core/schema/error.ts";

export type { Client, Pool, PoolClient };

/** The parts of the Postgres client library that the engine uses. */
export type PostgresDriver = Readonly<{ Pool: typeof Pool; Client: typeof Client }>;

/**
 * Loads the Postgres client library, which is installed only where an engine is used. `install` is the command that
 * installs it together with the other libraries that the caller needs.
 */
export async function loadDriver(install = "npm install pg"): Promise<PostgresDriver> {
  try {
    const { default: driver } = await import("pg");
    return driver;
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "An engine on Postgres needs libraries that are not installed.",
      `Install them beside subcrew: ${install}.`,
      { cause },
    );
  }
}

export const CONNECT_MS = 10_000;

/**
 * Session settings that soon end the database session of a machine that has vanished, and its locks. By default these
 * would stay for two hours. They are set by statements, because poolers refuse unknown connection parameters.
 */
const SESSION = `set idle_in_transaction_session_timeout = '15s'; set tcp_keepalives_idle = 10;
  set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3`;

/** Connections to the database of an engine, opened when they are needed. */
export async function openPool(url: string, connections: number, install?: string): Promise<Pool> {
  const { Pool: PoolClass } = await loadDriver(install);
  const settings: PoolConfig = {
    connectionString: url,
    max: connections,
    allowExitOnIdle: true,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true, // detects a connection that the network has dropped
    keepAliveInitialDelayMillis: CONNECT_MS,
    application_name: "subcrew",
  };
  const awaited = { onConnect: (client: PoolClient) => client.query(SESSION) }; // the pool awaits this callback, although its types say otherwise
  const made = new PoolClass(Object.assign(settings, awaited));
  made.on("error", () => {}); // an idle connection was lost; the next statement opens another
  return made;
}
