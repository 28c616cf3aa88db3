import { APPLICATION, queueName, silent, versionName, WORKFLOW } from "./queue.ts";
import { loadDbos } from "./sdk.ts";

/** How a worker listens to the queue of its class. */
export type QueueListener = Readonly<{
  /** Takes no more calls, and waits for those in flight. */
  stop(graceMs: number): Promise<void>;
}>;

export type QueueListenerOptions = Readonly<{
  url: string;
  worker: string;
  class: string;
  slots: number;
  /** How often the queue is asked for calls, in milliseconds. */
  pollMs: number;
  protocol: number;
  /** Carries out one placement of a call. It never throws. */
  work(call: string, epoch: number): Promise<void>;
}>;

/** Takes calls from the queue of one class. A process can do this once: DBOS is one per process. */
export async function listenToQueue(options: QueueListenerOptions): Promise<QueueListener> {
  const { DBOS, DBOSClient: Client } = await loadDbos();
  // Registered before the launch: a queue that appears later is noticed only after some time.
  const client = await Client.create({ systemDatabaseUrl: options.url, logger: silent, applicationName: APPLICATION });
  await client.registerQueue(queueName(options.class), {
    workerConcurrency: options.slots,
    minPollingIntervalMs: options.pollMs,
    onConflict: "always_update",
  });
  await client.destroy();
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: options.url,
    systemDatabasePoolSize: 4,
    executorID: options.worker,
    applicationVersion: versionName(options.protocol),
    listenQueues: [queueName(options.class)],
    logger: silent,
  });
  DBOS.registerWorkflow(options.work, { name: WORKFLOW });
  await DBOS.launch();
  return { stop: (graceMs) => DBOS.shutdown({ workflowCompletionTimeoutMS: graceMs, deregister: true }) };
}

/** Creates the tables of DBOS beside ours. Its own command for that prints to the standard output. */
export async function migrateDbos(url: string): Promise<void> {
  const { DBOS } = await loadDbos();
  DBOS.setConfig({ name: APPLICATION, systemDatabaseUrl: url, listenQueues: [], logger: silent });
  await DBOS.launch();
  await DBOS.shutdown({ deregister: true });
}
