import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import type { Fact, KeptEvent } from "../../src/core/run/event.ts";
import type { Call, Engine, Perform, PerformContext } from "../../src/core/task/engine.ts";
import type { Announcement } from "../../src/core/task/placement.ts";
import { connectEngine, type Connection } from "../../src/engines/connect.ts";
import { listenToQueue, migrateDbos } from "../../src/engines/dbos/listen.ts";
import { type CallQueue, dbosQueue } from "../../src/engines/dbos/queue.ts";
import { coordinate } from "../../src/engines/distributed.ts";
import { PROTOCOL } from "../../src/engines/postgres/presence.ts";
import type { Worker } from "../../src/engines/engine-kind.ts";
import { startWorker } from "../../src/engines/worker.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { usePostgres } from "../support/postgres.ts";
import { engineSuite } from "./suite.ts";

const postgres = usePostgres();
let url = "";
let worker: Worker;
let workerSide: Connection;
let queue: CallQueue;
const opened: Connection[] = [];
/** The performers of the engines under test, by the name of the agent in their jobs. */
const performers = new Map<string, Perform>();

/** The worker has a newer version: it supports the protocol of the runs, and a newer one. */
const announcement: Announcement = {
  protocols: [PROTOCOL, PROTOCOL + 1],
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
  if (postgres.isMissing()) return;
  url = await postgres.server().fresh();
  await migrateDbos(url);
  workerSide = connectEngine(url, { local: createMemoryStore(), worker: { role: "work", announcement } });
  queue = dbosQueue(workerSide.database);
  worker = await startWorker({
    connection: workerSide,
    announcement,
    pollMs: 20,
    listen: listenToQueue,
    perform: (job, context) => performers.get(job.agent.name)!(job.call, context),
  });
}, 120_000);
afterAll(async () => {
  if (postgres.isMissing()) return;
  await worker.drain(1_000);
  await queue.close();
  await Promise.all([workerSide, ...opened].map(({ database }) => database.close()));
}, 60_000);

/** An engine of another coordinator: the worker carries out its calls with the function `perform`. */
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
/**
 * Makes the worker of a call look dead as soon as the call with this epoch (the number of its placement) was accepted.
 */
const bury = async (path: string, epoch: number): Promise<void> => {
  await expect
    .poll(
      () =>
        workerSide.database.query(
          "update subcrew.calls set worker = 'dead' where call = $1 and epoch = $2 and state = 'taken' returning 1",
          [`${RUN}/${path}#1`, epoch],
        ),
      { timeout: 60_000, interval: 50 },
    )
    .toHaveLength(1);
};

describe("takeovers of a task by another worker", () => {
  test("a call whose worker seems dead continues on another worker; the old one is told to stop, and its messages are refused", async () => {
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
    await expect.poll(() => aborted, { timeout: 60_000 }).toBe(true);
    expect(facts).toEqual([expect.stringContaining("no sign of life")]);
  });

  test("notifications that any login can send neither change an outcome nor end a process", async () => {
    const go = deferred<void>();
    const it = engine(async () => {
      await go.promise;
      return { status: "ok", output: "real" };
    });
    const outcome = it.perform(call("notified"), contextOf());
    const { query } = workerSide.database;
    const taken = "select owner, worker from subcrew.calls where call = $1 and state = 'taken'";
    const look = (): Promise<{ owner: string; worker: string }[]> => query(taken, [`${RUN}/notified#1`]);
    await expect.poll(look, { timeout: 60_000 }).toHaveLength(1);
    const [{ owner, worker } = { owner: "", worker: "" }] = await look();
    const forged = { type: "ended", outcome: { status: "ok", output: "forged" } };
    for (const payload of [`d${JSON.stringify([`1 ${RUN}/notified#1`, forged])}`, "dgarbage", "onumber x", "m", "z"])
      for (const id of [owner, worker]) await query("select pg_notify($1, $2)", [`sc_p_${id}`, payload]);
    await query("select pg_notify($1, '')", [`sc_p_${owner}`]);
    go.resolve();
    expect(await outcome).toEqual({ status: "ok", output: "real" });
  });

  test("a call fails as crashed after four takeovers without a new recorded fact, but not if each takeover recorded a fact", async () => {
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
          { timeout: 60_000, interval: 50 },
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

  test("calls of the coordinator with the older claim are not carried out", async () => {
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
    journal.append({ type: "run.ended", seq: 1, run: RUN, path: "", at: 0 } as unknown as KeptEvent);
    await journal.close(); // the end of a process that lost the run does not end the run
    const kept = await workerSide.database.query("select call from subcrew.calls where run = $1", [RUN]);
    expect(kept).toContainEqual({ call: `${RUN}/a#1` });
    await newer.close();
  });

  test("a coordinator that lost its run withdraws neither the messages of a call nor the question of the new coordinator", async () => {
    const quiet = { kept: () => {}, lost: () => {} };
    let performed = 0;
    const perform: Perform = async (_, { signal, budget, emit }) => {
      performed += 1;
      emit({ type: "note", text: "begun" });
      if (performed === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await asked.promise;
      await budget.count("maxTurns"); // a question to the run, and its answer
      return { status: "ok", output: "done" };
    };
    const asked = deferred<void>();
    const [old, next] = [engine(perform), engine(perform)];
    const stop = new AbortController();
    const journal = await old.journal(RUN, quiet);
    const first = old.perform(call("mine"), { ...contextOf(), signal: stop.signal });
    const question = old.answer(`${RUN}/gate`, stop.signal);
    await expect.poll(() => performed, { timeout: 60_000 }).toBe(1);
    await workerSide.database.query("update subcrew.runs set owner = 'dead' where run = $1", [RUN]);
    const newer = await next.journal(RUN, quiet);
    const second = next.perform(call("mine"), contextOf());
    const answer = next.answer(`${RUN}/gate`, new AbortController().signal);
    const said = (): Promise<unknown[]> =>
      workerSide.database.query("select 1 from subcrew.facts where call = $1 and epoch = 2", [`${RUN}/mine#1`]);
    await expect.poll(said, { timeout: 60_000 }).toHaveLength(1);
    stop.abort();
    expect(await question).toBeUndefined();
    await first;
    expect(await said()).toHaveLength(1);
    asked.resolve();
    expect(await second).toEqual({ status: "ok", output: "done" });
    await expect.poll(() => next.give(`${RUN}/gate`, { approve: true, by: "x" }), { timeout: 60_000 }).toBe(true);
    expect(await answer).toMatchObject({ approve: true });
    await Promise.all([journal.close(), newer.close()]);
  }, 60_000);

  test("a delay continues with its remaining time when another process takes over the run", async () => {
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

describe("the order in which workers get tasks", () => {
  const of = (run: string, path: string): Call => ({ ...call(path), run });
  const gate = (): Readonly<{ open: Promise<void>; release(): void }> => {
    let release = (): void => {};
    return { open: new Promise<void>((resolve) => (release = resolve)), release };
  };

  test("runs with a lower number come first, and a run with many tasks does not delay a small run", async () => {
    const [all, last] = [gate(), gate()];
    const taken: string[] = [];
    const busy = engine(async ({ path }) => {
      taken.push(path);
      await (path === "hold 0" ? last.open : all.open);
      return { status: "ok", output: "" };
    });
    const holds = Array.from({ length: announcement.slots }, (_, at) =>
      busy.perform(of("run_hold", `hold ${at}`), contextOf()),
    );
    await expect.poll(() => taken.length, { timeout: 60_000 }).toBe(announcement.slots);
    const order: string[] = [];
    const note: Perform = async ({ run }) => {
      order.push(run);
      return { status: "ok", output: "" };
    };
    const [many, urgent] = [engine(note), engine(note, 1)];
    const waiting: Promise<Outcome>[] = [];
    /** Starts tasks one after the other, as a run does: the queue knows all of them before a slot is free. */
    const ask = async (it: Engine, run: string, n: number): Promise<void> => {
      for (let at = 0; at < n; at += 1) {
        waiting.push(it.perform(of(run, `task ${at}`), contextOf()));
        await queued(waiting.length);
      }
    };
    await ask(many, "run_large", 8);
    await ask(engine(note), "run_small", 2);
    await ask(urgent, "run_urgent", 2);
    last.release(); // one slot: the order of the queue is the order of the work
    await Promise.all(waiting);
    all.release();
    await Promise.all(holds);
    expect(order.slice(0, 2)).toEqual(["run_urgent", "run_urgent"]);
    expect(order.slice(2, 6).toSorted()).toEqual(["run_large", "run_large", "run_small", "run_small"]);
    expect(order).toHaveLength(12);
  }, 60_000);

  test("the next task of a run with one task at a time goes to the last worker directly, and not through the queue", async () => {
    const it = engine(async ({ path }) => ({ status: "ok", output: path }));
    let chains = 0;
    /**
     * How many of five successive tasks went through the queue: on a busy machine a worker may answer an offer too
     * late.
     */
    const throughQueue = async (): Promise<number> => {
      chains += 1;
      const run = `run_chain${chains}`;
      const outputs: unknown[] = [];
      for (const path of ["a", "b", "c", "d", "e"]) outputs.push(await it.perform(of(run, path), contextOf()));
      expect(outputs).toEqual(["a", "b", "c", "d", "e"].map((output) => ({ status: "ok", output })));
      return (
        await workerSide.database.query("select 1 from dbos.workflow_status where workflow_uuid like $1 || '/%'", [run])
      ).length;
    };
    await expect.poll(throughQueue, { timeout: 50_000, interval: 10 }).toBeLessThan(5);
  }, 60_000);

  test("a worker that accepts an offered call and also gets it from the queue executes the call once", async () => {
    const began: string[] = [];
    const it = engine(async ({ run, path }) => {
      began.push(path);
      // The worker does not answer the offer until the queue has assigned the call, so the run puts the call into the
      // queue.
      const given = "select 1 from dbos.workflow_status where workflow_uuid like $1 and status <> 'ENQUEUED'";
      const look = (): Promise<unknown[]> => workerSide.database.query(given, [`${run}/${path}#1:%`]);
      await expect.poll(look, { timeout: 40_000, interval: 10 }).toHaveLength(1);
      return { status: "ok", output: path };
    });
    for (const path of ["a", "b", "c", "d"]) await it.perform(of("run_twice", path), contextOf());
    expect(began).toEqual(["a", "b", "c", "d"]);
  }, 60_000);

  const queued = async (n: number): Promise<void> => {
    await expect
      .poll(
        async () =>
          (await workerSide.database.query("select 1 from dbos.workflow_status where status = 'ENQUEUED'")).length,
        { timeout: 60_000, interval: 10 },
      )
      .toBe(n);
  };
});

test("a call whose protocol no worker supports is parked with the reason, and continues when such a worker connects", async () => {
  const elsewhere = connectEngine(await postgres.server().fresh(), { local: createMemoryStore() });
  opened.push(elsewhere);
  const connected = (id: string, protocols: readonly number[]): Promise<unknown> =>
    elsewhere.database.query(
      "insert into subcrew.processes (id, host, pid, role, class, announcement, slots, version, protocol) values ($1, 'h', 1, 'work', $1, $2, 1, 'v', 1)",
      [id, JSON.stringify({ ...announcement, protocols })],
    );
  await connected("newer", [PROTOCOL + 1]);
  const placed: unknown[] = [];
  const parked: string[] = [];
  const stop = new AbortController();
  const it = coordinate(elsewhere, {
    put: async (one) => {
      placed.push(one);
      stop.abort();
    },
    drop: async () => {},
    close: async () => {},
  }).engine({
    job: async (asked) => ({
      workspace: { id: "/w" },
      needs: { runner: "local", tools: [] },
      call: asked,
      agent: { name: "a", description: "", instructions: "" },
      attended: false,
      prices: false,
    }),
    journal: (run, listener) => elsewhere.store.open(run, listener),
  });
  const outcome = it.perform(call("newer"), {
    ...contextOf(),
    signal: stop.signal,
    parks: {
      onLimit: "park",
      onProviderFault: "park",
      park: async ({ why }, wait) => {
        parked.push(why);
        await connected("both", [PROTOCOL, PROTOCOL + 1]);
        await wait(stop.signal);
        return true;
      },
    },
  });
  await outcome;
  expect(parked).toEqual([
    `The task waits for a worker: no worker has protocol ${PROTOCOL} (the worker supports ${PROTOCOL + 1}).`,
  ]);
  expect(placed).toMatchObject([{ class: "both", protocols: [PROTOCOL, PROTOCOL + 1] }]);
});
