import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Perform } from "../../src/core/task/engine.ts";
import type { Announcement } from "../../src/core/task/placement.ts";
import { connectEngine, type Connection } from "../../src/engines/connect.ts";
import { listenToQueue, migrateDbos } from "../../src/engines/dbos/listen.ts";
import { type CallQueue, dbosQueue } from "../../src/engines/dbos/queue.ts";
import { coordinate } from "../../src/engines/distributed.ts";
import { PROTOCOL } from "../../src/engines/postgres/presence.ts";
import { startWorker, type Worker } from "../../src/engines/worker.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { startPostgres, type TestServer } from "../support/postgres.ts";
import { engineSuite } from "./suite.ts";

let postgres: TestServer | string;
let url = "";
let worker: Worker;
let workerSide: Connection;
let queue: CallQueue;
const opened: Connection[] = [];
/** The performers of the engines under test, by the name of the agent in their jobs. */
const performers = new Map<string, Perform>();

const announcement: Announcement = {
  protocols: [PROTOCOL],
  platform: process.platform,
  runners: ["local"],
  providers: [],
  models: [],
  hasDefaultModel: true,
  tools: [],
  servers: [],
  workspaces: ["*"],
  sandbox: false,
  slots: 16,
};

const connect = (): Connection => {
  const connection = connectEngine(url, createMemoryStore());
  opened.push(connection);
  return connection;
};

beforeAll(async () => {
  postgres = await startPostgres();
  if (typeof postgres === "string") return;
  url = await postgres.fresh();
  await migrateDbos(url);
  queue = dbosQueue(url, PROTOCOL);
  workerSide = connectEngine(url, createMemoryStore(), { role: "work", announcement });
  worker = await startWorker({
    connection: workerSide,
    announcement,
    pollMs: 20,
    listen: listenToQueue,
    perform: (job, context) => performers.get(job.agent.name)!(job.call, context),
  });
}, 120_000);
afterAll(async () => {
  if (!postgres || typeof postgres === "string") return;
  await worker.drain(1_000);
  await queue.close();
  await Promise.all([workerSide, ...opened].map(({ database }) => database.close()));
  await postgres.stop();
}, 60_000);
beforeEach((context) => {
  if (typeof postgres === "string") context.skip(postgres);
});

engineSuite("an engine on Postgres with DBOS", async () => {
  const admin = workerSide.database;
  await admin.query(
    "truncate subcrew.runs, subcrew.events, subcrew.calls, subcrew.facts, subcrew.mail, subcrew.answers, subcrew.timers",
  );
  return {
    engine: (perform) => {
      const name = `engine ${performers.size + 1}`;
      performers.set(name, perform);
      const connection = connect();
      return coordinate(connection, queue).engine({
        job: async (call) => ({
          workspace: { id: "/w" },
          needs: { runner: "local", tools: [] },
          call,
          agent: { name, description: "", instructions: "" },
          attended: false,
          prices: false,
        }),
        journal: (run, listener) => connection.store.open(run, listener),
      });
    },
    bury: async (run) => void (await admin.query("update subcrew.runs set owner = 'dead' where run = $1", [run])),
    close: async () => {},
  };
});
