import type { Database } from "../postgres/database.ts";
import { type DBOSClient, loadDbos } from "./sdk.ts";

/** How a placed call reaches a worker: the only file besides the worker's that another queue would replace. */
export type CallQueue = Readonly<{
  /** Puts one placement of a call into the queue of a class of workers; a second time does nothing. */
  put(placed: PlacedCall): Promise<void>;
  /** Takes a placement out of the queue, or forgets that a dead worker had it. */
  drop(placed: Pick<PlacedCall, "call" | "epoch">): Promise<void>;
  /** The placements that a dead worker had taken out of the queue. */
  heldBy(worker: string): Promise<readonly Pick<PlacedCall, "call" | "epoch" | "token">[]>;
  /** Puts placements that a dead worker had taken out of the queue back into one. */
  putBack(placed: readonly Pick<PlacedCall, "call" | "epoch" | "class" | "token">[]): Promise<void>;
  close(): Promise<void>;
}>;

/** One placement of a call. A lower priority is served first; `protocols`: those of the class; the token tells placements of the same number apart, should their run be asked for again after its end. */
export type PlacedCall = Readonly<{
  call: string;
  epoch: number;
  class: string;
  protocols: readonly number[];
  priority?: number;
  token: string;
}>;

/** The workflow that takes a call; it has no steps, because the events of the run are the record. */
export const WORKFLOW = "subcrew.perform";
export const APPLICATION = "subcrew";
export const queueName = (name: string): string => `sc.${name}`;
/**
 * DBOS gives a workflow only to workers of its own version. All workers of a class speak the same protocols, so the newest of them
 * names the version: a worker with a newer one also gets calls of the older ones that it announces.
 */
export const versionName = (protocols: readonly number[]): string => `subcrew-protocol-${Math.max(...protocols)}`;

const workflowId = ({ call, epoch, token }: Pick<PlacedCall, "call" | "epoch" | "token">): string =>
  `${call}:${epoch}:${token}`;

/** The DBOS queues, for a process that sends calls to workers. */
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
      if (connected === mine) connected = undefined; // the next one tries again
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

/** What DBOS has to say goes nowhere: failures of calls are outcomes, and those of the database are retried. */
export const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} };
