import { CrewError, messageOf } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { CONNECT_MS, loadDriver, openPool, type Pool, type PoolClient } from "./driver.ts";
import { parseEngineUrl, shownUrl } from "./engine-url.ts";
import { type Bells, createBells } from "./listen.ts";

/** A row as the PostgreSQL driver returns it. */
export type TableRow = Readonly<Record<string, unknown>>;

/** Runs statements on one connection. */
export type RunStatement = <T extends TableRow = TableRow>(sql: string, values?: readonly unknown[]) => Promise<T[]>;

/** The database of an engine. It connects with the first statement. */
export type Database = Readonly<{
  /** The database address without its password. */
  shown: string;
  /** The full database address, and the connections of this process, for the queue library. */
  url: string;
  pool(): Promise<Pool>;
  /**
   * Runs one statement. After a lost connection the statement is sent again, so every statement must be safe to
   * repeat: it may have been executed although no reply arrived.
   */
  query: RunStatement;
  /** Runs statements in one transaction. After a lost connection the whole transaction is repeated. */
  transaction<T>(work: (query: RunStatement) => Promise<T>): Promise<T>;
  /**
   * Database notifications. The listener is called for each notification, and at least once a second, in case a
   * notification was lost.
   */
  bells: Bells;
  close(): Promise<void>;
}>;

export type DatabaseOptions = Readonly<{
  /** The maximum number of connections of this process. */
  connections?: number;
  /** How long statements wait for a database that was reached before and is now unreachable. */
  patienceMs?: number;
  /** The command that an error names when the client library is not installed. */
  install?: string;
}>;

const PATIENCE_MS = 120_000;
/** How long the first statement waits for a database that may be restarting; a wrong address is reported after this. */
const FIRST_PATIENCE_MS = 2_000;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** Opens the database of an engine. */
export function openDatabase(address: string, options: DatabaseOptions = {}): Database {
  const { connections = 8, patienceMs = PATIENCE_MS, install } = options;
  const shown = shownUrl(address);
  const url = parseEngineUrl(address).href;
  const closing = new AbortController();
  let pool: Promise<Pool> | undefined;
  let reached = false;
  const connected = (): Promise<Pool> => (pool ??= openPool(url, connections, install));
  const patiently = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const began = performance.now();
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        const client = await (await connected()).connect();
        reached = true;
        return await using(client, work);
      } catch (error) {
        if (!isConnectionLoss(error)) throw explainRefusal(error, shown);
        reached ||= isStarting(error);
        const patience = reached ? patienceMs : Math.min(patienceMs, FIRST_PATIENCE_MS);
        if (performance.now() - began > patience || closing.signal.aborted) throw unreachable(shown, error);
        await pause(wait, closing.signal);
      }
    }
  };
  const query: RunStatement = (sql, values) => patiently((client) => queryOn(client)(sql, values));
  const bells = createBells({
    open: async (lost) => {
      const { Client } = await loadDriver(install);
      const client = new Client({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_MS,
        keepAlive: true,
        keepAliveInitialDelayMillis: CONNECT_MS,
      });
      client.on("error", lost);
      client.on("end", lost);
      await client.connect();
      return client;
    },
  });
  return {
    shown,
    url,
    pool: connected,
    query,
    bells,
    transaction: (work) =>
      patiently(async (client) => {
        const inside = queryOn(client);
        await inside("begin");
        try {
          const result = await work(inside);
          await inside("commit");
          return result;
        } catch (error) {
          await inside("rollback").catch(() => {});
          throw error;
        }
      }),
    close: async () => {
      closing.abort();
      // Keeps the process alive until the connections are closed; idle connections alone would not.
      const awake = setInterval(() => {}, LONGEST_WAIT_MS);
      try {
        await bells.close();
        await (await pool)?.end();
      } finally {
        clearInterval(awake);
      }
      pool = undefined;
    },
  };
}

const queryOn =
  (client: PoolClient): RunStatement =>
  async <T extends TableRow = TableRow>(sql: string, values: readonly unknown[] = []) =>
    (await client.query<T>(sql, [...values])).rows;

/** Passes a connection to `work`. A connection that failed is not used again. */
async function using<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const ignore = (): void => {}; // ignored because the failed statement reports the same error
  client.on("error", ignore);
  try {
    const result = await work(client);
    client.off("error", ignore);
    client.release();
    return result;
  } catch (error) {
    client.off("error", ignore);
    client.release(isConnectionLoss(error));
    throw error;
  }
}

/** Error classes and codes after which a statement can be sent again, on a new connection. */
const LOST =
  /^(?:08|57P0[1-3]|53300$|25006$|40001$|40P01$|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
const LOST_TEXT =
  /connection (?:terminated|ended|timeout)|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

/**
 * True when the statement itself is not the reason: the connection failed, the server takes no statements at the moment
 * or only reads (a standby), or the server aborted the statement to end a deadlock.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isConnectionLoss);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return LOST.test(code) || LOST_TEXT.test(error.message);
}

/** True when the server is starting or shutting down and will accept connections soon. */
const isStarting = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "57P03";

export function unreachable(shown: string, cause: unknown): CrewError {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  return new CrewError(
    "ENGINE_UNREACHABLE",
    `The engine at ${shown} cannot be reached: ${messageOf(first)}.`,
    "Check the address and that the database runs; `subcrew engine dev` starts one on this machine.",
    { cause },
  );
}
