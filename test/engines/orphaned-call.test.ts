import { expect, test } from "vitest";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import type { Call, PerformContext } from "../../src/core/task/engine.ts";
import type { Announcement } from "../../src/core/task/placement.ts";
import { connectEngine, type Connection } from "../../src/engines/connect.ts";
import { listenToQueue, migrateDbos } from "../../src/engines/dbos/listen.ts";
import { dbosQueue } from "../../src/engines/dbos/queue.ts";
import { coordinate } from "../../src/engines/distributed.ts";
import { openDatabase } from "../../src/engines/postgres/database.ts";
import { PROTOCOL } from "../../src/engines/postgres/presence.ts";
import { startWorker } from "../../src/engines/worker.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { usePostgres } from "../support/postgres.ts";

const postgres = usePostgres();

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
  repositories: [],
  sandbox: "none",
  slots: 1,
};

test("a task that waits for a run without a process is returned, and its slot serves other runs", async () => {
  const url = await postgres.server().fresh();
  await migrateDbos(url);
  const admin = openDatabase(url);
  await admin.query(
    "do $$ begin execute format('alter database %I set subcrew.dead_after = ''2s''', current_database()); end $$",
  );
  const local = createMemoryStore();
  const [dying, living] = [connectEngine(url, { local }), connectEngine(url, { local })];
  const serving = connectEngine(url, { local, worker: { role: "work", announcement } });
  const waits = deferred<void>();
  const worker = await startWorker({
    connection: serving,
    announcement,
    pollMs: 20,
    listen: listenToQueue,
    perform: async ({ call }, context): Promise<Outcome> => {
      if (call.run === LOST) {
        waits.resolve();
        await context.ask("Go on?", { call: "c1", signal: context.signal });
      }
      return { status: "ok", output: "done" };
    },
  });
  const queues = [dying, living].map(({ database }) => dbosQueue(database));
  void perform(dying, queues[0]!, LOST).catch(() => {});
  await waits.promise;
  await admin.query("update subcrew.calls set owner = 'dead' where run = $1", [LOST]);
  expect(await perform(living, queues[1]!, "run_other0000000")).toMatchObject({ status: "ok", output: "done" });
  expect(await admin.query("select state from subcrew.calls where run = $1", [LOST])).toEqual([{ state: "returned" }]);
  await worker.drain(1_000);
  await Promise.all(queues.map((queue) => queue.close()));
  await Promise.all([dying.database, living.database, serving.database, admin].map((one) => one.close()));
});

const LOST = "run_lost00000000";

/** Lets workers perform one task of a run whose process never answers its questions. */
function perform(connection: Connection, queue: ReturnType<typeof dbosQueue>, run: string): Promise<Outcome> {
  const engine = coordinate(connection, queue).engine({
    job: async (call) => ({
      workspace: { id: "/w" },
      needs: { runner: "local", tools: [] },
      call,
      agent: { name: "a", description: "", instructions: "" },
      attended: false,
      prices: false,
    }),
    journal: (id, listener) => connection.store.open(id, listener),
  });
  const call: Call = { run, path: "a", attempt: 1, task: { prompt: "x" }, attachments: [], context: "", depth: 0 };
  return engine.perform(call, {
    signal: new AbortController().signal,
    emit: () => {},
    live: () => {},
    durable: () => Promise.resolve(),
    attended: false,
    ask: () => new Promise(() => {}),
    mail: () => Promise.resolve([]),
    tell: () => {},
    past: () => Promise.resolve([]),
  } as unknown as PerformContext);
}
