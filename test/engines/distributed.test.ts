import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import type { Fact } from "../../src/core/run/event.ts";
import type { Call, Engine, Perform, PerformContext } from "../../src/core/task/engine.ts";
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
  repositories: [],
  sandbox: "none",
  slots: 16,
};

const connect = (): Connection => {
  const connection = connectEngine(url, { local: createMemoryStore() });
  opened.push(connection);
  return connection;
};

beforeAll(async () => {
  postgres = await startPostgres();
  if (typeof postgres === "string") return;
  url = await postgres.fresh();
  await migrateDbos(url);
  queue = dbosQueue(url, PROTOCOL);
  workerSide = connectEngine(url, { local: createMemoryStore(), worker: { role: "work", announcement } });
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

/** One more coordinator whose calls this performer carries out, on the worker. */
function engine(perform: Perform, priority?: number): Engine {
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
    ...(priority !== undefined && { priority }),
  });
}

engineSuite("an engine on Postgres with DBOS", async () => {
  const admin = workerSide.database;
  await admin.query(
    "truncate subcrew.runs, subcrew.events, subcrew.calls, subcrew.facts, subcrew.mail, subcrew.answers, subcrew.timers",
  );
  return {
    engine,
    bury: async (run) => void (await admin.query("update subcrew.runs set owner = 'dead' where run = $1", [run])),
    close: async () => {},
  };
});

const RUN = "run_takeover0000";
const call = (path: string): Call => ({
  run: RUN,
  path,
  attempt: 1,
  task: { prompt: "x" },
  attachments: [],
  context: "",
  depth: 0,
});
const contextOf = (emit: (fact: Fact) => void = () => {}): PerformContext =>
  ({
    signal: new AbortController().signal,
    emit,
    live: () => {},
    durable: () => Promise.resolve(),
    budget: {
      reserve: async () => ({ settle: () => {}, release: () => {} }),
      count: async () => undefined,
      room: async () => undefined,
    },
    attended: false,
    ask: () => Promise.resolve(undefined),
    mail: () => Promise.resolve([]),
    tell: () => {},
    past: () => Promise.resolve([]),
  }) as unknown as PerformContext;
/** Makes the worker of a call look dead as soon as it has taken the placement with this number. */
const bury = async (path: string, epoch: number): Promise<void> => {
  await expect
    .poll(
      () =>
        workerSide.database.query(
          "update subcrew.calls set worker = 'dead' where call = $1 and epoch = $2 and state = 'taken' returning 1",
          [`${RUN}/${path}#1`, epoch],
        ),
      { timeout: 30_000, interval: 50 },
    )
    .toHaveLength(1);
};

describe("takeovers of a call", () => {
  test("a call whose worker is taken for dead goes on elsewhere; the old one is told to stop, and what it says is refused", async () => {
    const facts: string[] = [];
    let aborted = false;
    let performers = 0;
    const it = engine(async (_, { signal, emit }) => {
      performers += 1;
      if (performers > 1) return { status: "ok", output: "second" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      aborted = true;
      emit({ type: "note", text: "from a ghost" });
      return { status: "ok", output: "first" };
    });
    const outcome = it.perform(
      call("frozen"),
      contextOf((fact) => void (fact.type === "note" && facts.push(fact.text))),
    );
    await bury("frozen", 1);
    expect(await outcome).toEqual({ status: "ok", output: "second" });
    await expect.poll(() => aborted, { timeout: 20_000 }).toBe(true);
    expect(facts).toEqual([expect.stringContaining("no sign of life")]);
  });

  test("a call fails as crashed after four takeovers without a new recorded fact, and not if each of them recorded one", async () => {
    const turn = { type: "turn.ended", turn: 1, text: "", calls: [] } as unknown as Fact;
    const never = (signal: AbortSignal): Promise<Outcome> =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ status: "cancelled", reason: "stopped" }), { once: true }),
      );
    const poison = engine((_, { signal }) => never(signal)).perform(call("poison"), contextOf());
    let tries = 0;
    const slow = engine((_, { signal, emit }) => {
      tries += 1;
      if (tries > 5) return Promise.resolve({ status: "ok", output: "in the end" });
      emit(turn);
      return never(signal);
    }).perform(call("slow"), contextOf());
    const recorded = async (epoch: number): Promise<void> => {
      await expect
        .poll(
          () =>
            workerSide.database.query("select 1 from subcrew.facts where call = $1 and epoch = $2", [
              `${RUN}/slow#1`,
              epoch,
            ]),
          { timeout: 30_000, interval: 50 },
        )
        .not.toHaveLength(0);
    };
    await Promise.all([
      (async () => {
        for (const epoch of [1, 2, 3, 4]) await bury("poison", epoch);
      })(),
      (async () => {
        for (const epoch of [1, 2, 3, 4, 5]) {
          await recorded(epoch);
          await bury("slow", epoch);
        }
      })(),
    ]);
    expect(await poison).toMatchObject({ status: "failed", fault: { code: "CRASHED" } });
    expect(await slow).toEqual({ status: "ok", output: "in the end" });
  }, 120_000);

  test("of two coordinators the one with the older claim gets nothing carried out", async () => {
    const quiet = { kept: () => {}, lost: () => {} };
    let performed = 0;
    const perform: Perform = async () => {
      performed += 1;
      return { status: "ok", output: "done" };
    };
    const [old, next] = [engine(perform), engine(perform)];
    const journal = await old.journal(RUN, quiet);
    await workerSide.database.query("update subcrew.runs set owner = 'dead' where run = $1", [RUN]);
    const newer = await next.journal(RUN, quiet);
    expect(await next.perform(call("a"), contextOf())).toEqual({ status: "ok", output: "done" });
    expect(await old.perform(call("b"), contextOf())).toMatchObject({ status: "cancelled" });
    expect(performed).toBe(1);
    await Promise.all([journal.close(), newer.close()]);
  });

  test("a delay goes on where it was when another process takes the run over", async () => {
    const [one, other] = [
      engine(async () => ({ status: "ok", output: "" })),
      engine(async () => ({ status: "ok", output: "" })),
    ];
    const stop = new AbortController();
    const first = one.sleep(`${RUN}/a#2`, 60_000, stop.signal);
    const ends = (): Promise<unknown[]> =>
      workerSide.database.query(
        "update subcrew.timers set until = until - interval '59800 milliseconds' where key = $1 returning 1",
        [`${RUN}/a#2`],
      );
    await expect.poll(() => workerSide.database.query("select 1 from subcrew.timers")).toHaveLength(1);
    stop.abort();
    await first;
    expect(await ends()).toHaveLength(1);
    const began = performance.now();
    await other.sleep(`${RUN}/a#2`, 60_000, new AbortController().signal);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
