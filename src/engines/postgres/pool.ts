import { loadDriver, type Pool } from "./driver.ts";

export const CONNECT_MS = 10_000;

/**
 * What the server does about a machine that is gone without a word: it ends the session soon, and with it the locks of its
 * transaction. Otherwise they stay for two hours. Set by statements, because poolers refuse unknown parameters of connections.
 */
const SESSION = `set idle_in_transaction_session_timeout = '15s'; set tcp_keepalives_idle = 10;
  set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3`;

/** Connections to the database of an engine, opened when they are needed. */
export async function openPool(url: string, connections: number): Promise<Pool> {
  const { Pool: PoolClass } = await loadDriver();
  const made = new PoolClass({
    connectionString: url,
    max: connections,
    allowExitOnIdle: true,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true, // a connection that a network forgot is noticed
    keepAliveInitialDelayMillis: CONNECT_MS,
    application_name: "subcrew",
    onConnect: async (client) => {
      await client.query(SESSION);
    },
  });
  made.on("error", () => {}); // an idle connection was lost; the next statement opens another
  return made;
}
