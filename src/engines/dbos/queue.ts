import type { Database } from "../postgres/database.ts";
import { type DBOSClient, loadDbos } from "./sdk.ts";

/** The queue from coordinators to workers. Only this file and `listen.ts` would change for another queue library. */
export type CallQueue = Readonly<{
  /**
   * Puts a task into the queue of a class of workers (workers with the same capabilities); repeating it has no effect.
   */
  put(placed: PlacedCall): Promise<void>;
  /** Removes a task from the queue, or from the list of a dead worker. */
  drop(placed: Pick<PlacedCall, "call" | "epoch">): Promise<void>;
  /** The tasks that a dead worker had taken from the queue. */
  heldBy(worker: string): Promise<readonly Pick<PlacedCall, "call" | "epoch" | "token">[]>;
  /** Puts tasks of a dead worker back into a queue. */
  putBack(placed: readonly Pick<PlacedCall, "call" | "epoch" | "class" | "token">[]): Promise<void>;
  close(): Promise<void>;
}>;

/**
 * One entry of the queue: a task and its epoch. A lower priority is served first. `protocols` are the protocols of the
 * class of workers. The token distinguishes entries with the same epoch when an ended run is started again.
 */
export type PlacedCall = Readonly<{
  call: string;
  epoch: number;
  class: string;
  protocols: readonly number[];
  priority?: number;
  token: string;
}>;

/** The name of the DBOS workflow that takes a task. It has no steps, because the events of the run are the record. */
export const WORKFLOW = "subcrew.perform";
export const APPLICATION = "subcrew";
export const queueName = (name: string): string => `sc.${name}`;
/**
 * The DBOS version of workers with these protocols. DBOS gives a workflow only to workers of its own version. All
 * workers of a class support the same protocols, so the newest protocol names the version. A worker with a newer
 * protocol also gets tasks of the older protocols that it announces.
 */
export const versionName = (protocols: readonly number[]): string => `subcrew-protocol-${Math.max(...protocols)}`;

const workflowId = ({ call, epoch, token }: Pick<PlacedCall, "call" | "epoch" | "token">): string =>
  `${call}:${epoch}:${token}`;

/** The DBOS queues, for a process that sends tasks to workers. */
export function dbosQueue({ url, pool }: Pick<Database, "url" | "pool">): CallQueue {
  let connected: Promise<DBOSClient> | undefined;
  const connect = async (): Promise<DBOSClient> => {
    const [{ DBOSClient: Client }, systemDatabasePool] = await Promise.all([loadDbos(), pool()]);
    return Client.create({ systemDatabaseUrl: url, systemDatabasePool, logger: silent, applicationName: APPLICATION });
  };
  const client = async (): Promise<DBOSClient> => {
    connected ??= connect();
    const mine = connected;
    try {
      return await mine;
    } catch (error) {
      if (connected === mine) connected = undefined; // the next request connects again
      throw error;
    }
  };
  return {
    put: async (placed) => {
      await (await client()).enqueue(
        {
          queueName: queueName(placed.class),
          workflowName: WORKFLOW,
          workflowID: workflowId(placed),
          appVersion: versionName(placed.protocols),
          priority: placed.priority ?? 0,
        },
        placed.call,
        placed.epoch,
      );
    },
    drop: async (placed) => {
      const prefix = workflowId({ ...placed, token: "" });
      const found = await (await client()).listWorkflows({ workflow_id_prefix: prefix, loadInput: false });
      if (found.length > 0) await (await client()).cancelWorkflows(found.map(({ workflowID }) => workflowID));
    },
    heldBy: async (worker) => {
      const found = await (await client()).listWorkflows({ status: "PENDING", executorId: worker });
      return found.flatMap(({ workflowID }) => {
        const [, call = "", epoch, token = ""] = /^(.*):(\d+):([^:]*)$/s.exec(workflowID) ?? [];
        return epoch === undefined ? [] : [{ call, epoch: Number(epoch), token }];
      });
    },
    putBack: async (placed) => {
      for (const name of new Set(placed.map((one) => one.class)))
        await (await client()).resumeWorkflows(placed.filter((one) => one.class === name).map(workflowId), {
          queueName: queueName(name),
        });
    },
    close: async () => {
      const made = await connected;
      connected = undefined;
      await made?.destroy();
    },
  };
}

/** A logger that drops all messages of DBOS: failed tasks are outcomes, and database errors are retried. */
export const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} };
