import { type Database, isConnectionLoss, unreachable } from "../postgres/database.ts";
import { shownUrl } from "../postgres/engine-url.ts";
import { explainRefusal } from "../postgres/explain-refusal.ts";
import { openPool } from "../postgres/driver.ts";
import { APPLICATION, queueName, silent, versionName, WORKFLOW } from "./queue.ts";
import { type DbosSdk, loadDbos } from "./sdk.ts";

/** The subscription of a worker to the queue of its class (the workers with the same capabilities share a queue). */
export type QueueListener = Readonly<{
  /** Takes no more tasks and waits for the running tasks. */
  stop(graceMs: number): Promise<void>;
}>;

export type QueueListenerOptions = Readonly<{
  database: Pick<Database, "url" | "pool">;
  worker: string;
  class: string;
  slots: number;
  /** The polling interval of the queue, in milliseconds. */
  pollMs: number;
  /** The protocol versions that the worker supports. */
  protocols: readonly number[];
  /** Executes a task from the queue. It never throws. */
  work(call: string, epoch: number): Promise<void>;
}>;

/**
 * Takes tasks from the queue of one class of workers (workers with the same capabilities). A process can do this only
 * once, because DBOS is a singleton.
 */
export const listenToQueue = (options: QueueListenerOptions): Promise<QueueListener> =>
  explained(options.database.url, () => listenNow(options));

async function listenNow(options: QueueListenerOptions): Promise<QueueListener> {
  const { DBOS, DBOSClient: Client } = await loadDbos();
  const { url, pool } = options.database;
  const database = { systemDatabaseUrl: url, systemDatabasePool: await pool(), logger: silent };
  // The queue is registered before the launch, because DBOS notices later queues only after some time.
  const client = await Client.create({ ...database, applicationName: APPLICATION });
  await client.registerQueue(queueName(options.class), {
    workerConcurrency: options.slots,
    minPollingIntervalMs: options.pollMs,
    onConflict: "always_update",
  });
  await client.destroy();
  DBOS.setConfig({
    ...database,
    name: APPLICATION,
    executorID: options.worker,
    applicationVersion: versionName(options.protocols),
    listenQueues: [queueName(options.class)],
  });
  const working = new Set<string>();
  const work = async (call: string, epoch: number): Promise<void> => {
    const id = DBOS.workflowID ?? "";
    working.add(id);
    try {
      await options.work(call, epoch);
    } finally {
      working.delete(id);
    }
  };
  DBOS.registerWorkflow(work, { name: WORKFLOW });
  await DBOS.launch();
  const stopLooking = putStraysBack(DBOS, { worker: options.worker, queue: queueName(options.class), working });
  return {
    stop: async (graceMs) => {
      stopLooking();
      await DBOS.shutdown({ workflowCompletionTimeoutMS: graceMs, deregister: true });
    },
  };
}

const STRAYS_EVERY_MS = 5_000;

/**
 * Puts tasks back into the queue that this worker does not know of. If the connection is lost while a task is taken
 * from the queue, the task is marked as taken by this worker, which does not know of it. A task that has the mark at
 * two checks and is not being executed goes back to the queue.
 */
function putStraysBack(
  dbos: DbosSdk["DBOS"],
  { worker, queue, working }: Readonly<{ worker: string; queue: string; working: ReadonlySet<string> }>,
): () => void {
  let before: ReadonlySet<string> = new Set();
  let looking = false;
  const look = async (): Promise<void> => {
    const held = await dbos.listWorkflows({ status: "PENDING", executorId: worker, loadInput: false });
    const idle = held.map(({ workflowID }) => workflowID).filter((id) => !working.has(id));
    const strays = idle.filter((id) => before.has(id));
    before = new Set(idle);
    if (strays.length > 0) await dbos.resumeWorkflows(strays, { queueName: queue });
  };
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    const over = (): void => void (looking = false);
    look().then(over, over); // the database is unreachable; the next check finds such tasks
  }, STRAYS_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The number of connections for creating the tables. */
const CONNECTIONS = 4;

/**
 * Creates the tables of DBOS beside subcrew's own. The command of DBOS is not used, because it prints to standard
 * output.
 */
export async function migrateDbos(url: string): Promise<void> {
  const { DBOS } = await loadDbos();
  const pool = await openPool(url, CONNECTIONS);
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    listenQueues: [],
    logger: silent,
  });
  await explained(url, async () => {
    try {
      await DBOS.launch();
      await DBOS.shutdown({ deregister: true });
    } finally {
      await pool.end();
    }
  });
}

/**
 * Converts errors of DBOS, which may wrap database errors, to the same messages as for statements of subcrew itself.
 */
async function explained<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const causes = [error, error instanceof Error ? error.cause : undefined];
    const lost = causes.find(isConnectionLoss);
    throw lost === undefined ? explainRefusal(causes[1] ?? error, shownUrl(url)) : unreachable(shownUrl(url), lost);
  }
}
