// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { connectEngine } from "../../dist/engines/connect.js";
import { listenToQueue, migrateDbos } from "../../dist/engines/dbos/listen.js";
import { dbosQueue, queueName, versionName } from "../../dist/engines/dbos/queue.js";
import { coordinate } from "../../dist/engines/distributed.js";
import { openDatabase } from "../../dist/engines/postgres/database.js";
import { migrate } from "../../dist/engines/postgres/migrate.js";
import { PROTOCOL } from "../../dist/engines/postgres/presence.js";
import { findPrograms } from "../../dist/engines/server/programs.js";
import { startDatabaseServer } from "../../dist/engines/server/server.js";
import { startWorker } from "../../dist/engines/worker.js";
import { createMemoryStore } from "../../dist/runtime/store/memory-store.js";

export const FACTS = 6;
const FACT_BYTES = 300;
export const OUTCOME = { status: /** @type {const} */ ("ok"), output: "x".repeat(380) };
const SLOTS = 32;

/** Starts a Postgres server for the benchmark alone. */
export async function startDatabase() {
  const folder = await mkdtemp(join(tmpdir(), "subcrew-bench-"));
  const path = process.env["PATH"] ?? "";
  const programs = await findPrograms({ path, unpackBelow: join(tmpdir(), "subcrew-postgres") });
  const server = await startDatabaseServer({ programs, path, folder, settings: ["max_connections=200"] });
  const database = openDatabase(server.url);
  await migrate(database);
  await migrateDbos(server.url);
  return {
    url: server.url,
    database,
    folder,
    stop: async () => {
      await database.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The processor time of all processes of a Postgres, in milliseconds. @param {string} folder */
export function databaseCpu(folder) {
  const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ");
      if (Number(name) === pid)
        ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
      else if (Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // the process has ended meanwhile
    }
  }
  return ticks * 10;
}

/** @type {any} */
export const announcement = {
  protocols: [PROTOCOL],
  platform: process.platform,
  runners: ["local"],
  providers: [],
  models: [],
  hasDefaultModel: true,
  tools: [],
  servers: [],
  workspaces: ["*"],
  repositories: [],
  sandbox: "none",
  slots: SLOTS,
};

/**
 * Opens a worker and a coordinator (it gives tasks to workers) in this process, and a bare DBOS workflow of one step in
 * the same queue.
 *
 * @param {string} url
 * @param {{ pollMs: number }} options
 */
export async function openEngine(url, { pollMs }) {
  /**
   * Callbacks for the end of a bare workflow, by id. They are called in this process, because polling the database
   * for results would cost more than the work.
   *
   * @type {Map<string, () => void>}
   */
  const waiting = new Map();
  const work = async (/** @type {string} */ id) => {
    const outcome = await DBOS.runStep(async () => OUTCOME, { name: "step" });
    waiting.get(id)?.();
    return outcome;
  };
  DBOS.registerWorkflow(work, { name: "bare" });
  const workerSide = connectEngine(url, { local: createMemoryStore(), worker: { role: "work", announcement } });
  const here = connectEngine(url, { local: createMemoryStore() });
  const queue = dbosQueue(here.database);
  const fact = { type: /** @type {const} */ ("note"), text: "x".repeat(FACT_BYTES - 20) };
  const worker = await startWorker({
    connection: workerSide,
    announcement,
    pollMs,
    listen: listenToQueue,
    perform: async (_, context) => {
      for (let n = 0; n < FACTS; n += 1) context.emit(fact);
      return OUTCOME;
    },
  });
  const client = await DBOSClient.create({ systemDatabaseUrl: url, applicationName: "subcrew" });
  const coordination = coordinate(here, queue);
  return {
    ...runsOf(coordination, here),
    /** Runs one bare DBOS workflow, from the call to its result. @param {string} id */
    bare: async (id) => {
      const done = new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
      await client.enqueue(
        {
          queueName: queueName(worker.class),
          workflowName: "bare",
          workflowID: id,
          appVersion: versionName([PROTOCOL]),
        },
        id,
      );
      await done;
      waiting.delete(id);
    },
    close: async () => {
      await worker.drain(1_000);
      await client.destroy();
      await queue.close();
      await Promise.all([workerSide, here].map(({ database }) => database.close()));
    },
  };
}

let runs = 0;

/**
 * Creates runs in the database of an engine, whose tasks are executed by workers.
 *
 * @param {ReturnType<typeof coordinate>} coordination
 * @param {ReturnType<typeof connectEngine>} here
 */
export function runsOf(coordination, here) {
  const engine = coordination.engine({
    job: async (call) =>
      /** @type {any} */ ({
        workspace: { id: "/w" },
        needs: { runner: "local", tools: [] },
        call,
        agent: { name: "a", description: "", instructions: "" },
        attended: false,
        prices: false,
      }),
    journal: (id, listener) => here.store.open(id, listener),
  });
  return {
    engine,
    /** A run whose tasks are requested one by one. */
    run: async () => {
      runs += 1;
      const run = `run_bench${process.pid}x${runs}`;
      const journal = await engine.journal(run, { kept: () => {}, lost: () => {} });
      let seq = 0;
      const signal = new AbortController().signal;
      return {
        /** @param {string} path */
        task: (path) =>
          engine.perform(
            { run, path, attempt: 1, task: { prompt: "x" }, attachments: [], context: "", depth: 0 },
            /** @type {any} */ ({
              signal,
              emit: (/** @type {any} */ one) =>
                journal.append({ ...one, seq: (seq += 1), run, path, at: 1_700_000_000_000 }),
              live: () => {},
              durable: () => journal.durable(),
              budget: {
                reserve: async () => ({ settle() {}, release() {} }),
                count: async () => {},
                room: async () => {},
              },
              attended: false,
              ask: async () => {},
              mail: async () => [],
              tell: () => {},
              past: async () => [],
            }),
          ),
        end: async () => {
          await journal.durable();
          await journal.close();
        },
      };
    },
  };
}
