import { expect, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import {
  type EngineSite,
  exactnessOf,
  openSite,
  promptOf,
  resultOf,
  type SiteProcess,
  taskNode,
} from "../support/engine-site.ts";
import { usePostgres } from "../support/postgres.ts";

const postgres = usePostgres();

/**
 * Fewer runs, and more time between faults, for a try on a busy machine, where a worker is killed before it has
 * started.
 */
const RUNS = Number(process.env["CHAOS_RUNS"] ?? 20);
const PACE = Number(process.env["CHAOS_PACE"] ?? 1);
const TASKS = 100;
const numbers = (run: number): number[] => Array.from({ length: TASKS }, (_, at) => run * 1_000 + at);
const idOf = (task: number): string => `t${task}`;
const join = (ids: readonly number[]) => ({ kind: "join" as const, needs: ids.map(idOf), pick: "settled" as const });
type TaskNode = ReturnType<typeof taskNode>;
const all = (ids: readonly number[], node: (task: number, at: number) => TaskNode): Plan => ({
  nodes: { ...Object.fromEntries(ids.map((task, at) => [idOf(task), node(task, at)])), all: join(ids) },
  output: "all",
});

/** Parallel tasks, five of which write the same files. */
const fan = (run: number): Plan =>
  all(numbers(run), (task, at) => taskNode(task, [], at % 20 === 0 ? { writes: [`shared-${run}/**`] } : {}));
/** Ten chains of ten tasks, each with a question in the middle. */
const chains = (run: number): Plan => {
  const plan = all(numbers(run), (task, at) =>
    taskNode(task, at % 10 === 0 ? [] : at % 10 === 5 ? [`gate${task}`] : [idOf(task - 1)]),
  );
  const gates = numbers(run).flatMap((task, at) =>
    at % 10 === 5 ? [[`gate${task}`, { kind: "gate", needs: [idOf(task - 1)], question: `Go on with ${task}?` }]] : [],
  );
  return { ...plan, nodes: { ...plan.nodes, ...Object.fromEntries(gates) } };
};
/** A team of two roles: a first task, then groups of four that wait for the previous group. */
const team = (run: number): object => ({
  mode: "team",
  team: {
    members: ["one", "other"].map((role) => ({ role, agent: "chaos-worker" })),
    tasks: numbers(run).map((task, at) => ({
      id: idOf(task),
      task: promptOf(task),
      assignee: at % 2 === 0 ? "one" : "other",
      ...(at > 0 && { depends: [idOf(run * 1_000 + Math.max(0, 4 * Math.floor((at - 1) / 4) - 3))] }),
    })),
  },
});
const shapes: readonly ((run: number) => object)[] = [fan, chains, team];

test("2,000 tasks end exactly once while workers, coordinators and the database are killed again and again", async () => {
  const site = await openSite(postgres.server(), { turnMs: 100 });
  let over = false;
  const counts = { workers: 0, started: 0, ready: 0, coordinators: 0, restarts: 0, frozen: 0, answers: 0 };
  const workers: SiteProcess[] = [];
  /**
   * A worker that ends is started again at once, as a service manager does; also one that could not reach the database.
   */
  const keep = (at: number): void => {
    counts.started += 1;
    workers[at] = site.worker();
    void workers[at].ready.then((isUp) => isUp && (counts.ready += 1));
    void workers[at].ended.then(() => over || keep(at));
  };
  [0, 1, 2, 3].forEach(keep);
  await Promise.all(workers.map(({ ready }) => ready));
  const runs = Array.from({ length: RUNS }, (_, at) => `run_soak${String(at).padStart(8, "0")}`);
  const coordinators: SiteProcess[] = [];
  /**
   * A process that could not reach the database before it recorded anything is started again; later a worker takes
   * over.
   */
  const begin = (run: string, at: number): void => {
    const options = { concurrency: 16, unattended: false, budget: { maxTurns: 2 * TASKS, maxToolCalls: TASKS } };
    coordinators[at] = site.coordinate(run, shapes[at % shapes.length]!(at + 1), options);
    void coordinators[at].ended
      .then(() => site.connection.database.query("select from subcrew.events where run = $1 limit 1", [run]))
      .then((recorded) => over || recorded.length > 0 || begin(run, at));
  };
  runs.forEach(begin);
  const read = readerOf(site, runs);
  const every = async (ms: () => number, act: () => Promise<void> | void): Promise<void> => {
    while (!over) {
      await new Promise((resolve) => setTimeout(resolve, PACE * ms()));
      if (!over) await act();
    }
  };
  const pick = (n: number): number => Math.floor(Math.random() * n);
  const troubles = [
    every(
      () => 2_000,
      () => {
        if (workers[pick(workers.length)]!.child.kill("SIGKILL")) counts.workers += 1;
      },
    ),
    every(
      () => 20_000,
      async () => {
        const { child } = workers[pick(workers.length)]!;
        child.kill("SIGSTOP");
        counts.frozen += 1;
        await new Promise((resolve) => setTimeout(resolve, 15_000));
        child.kill("SIGCONT");
      },
    ),
    every(
      () => 6_000,
      () => {
        const begun = coordinators.filter(
          ({ child }, at) => read.began(runs[at]!) && child.exitCode === null && child.signalCode === null,
        );
        const one = begun[pick(begun.length)];
        if (one?.child.kill("SIGKILL")) counts.coordinators += 1;
      },
    ),
    every(
      () => 5_000 + pick(5_000),
      async () => {
        await postgres.server().server.crash();
        counts.restarts += 1;
      },
    ),
    every(
      () => 500,
      async () => {
        counts.answers += await answerGates(site, read.open()).catch(() => 0);
      },
    ),
  ];
  let last = 0;
  let seen = 0;
  let shown = performance.now();
  const began = performance.now();
  const progress = async (): Promise<number> => {
    await read.more();
    const { ended, over: overRuns } = read;
    if (ended() > seen) {
      seen = ended();
      last = performance.now();
    }
    if (performance.now() - shown > 30_000) {
      shown = performance.now();
      process.stdout.write(
        `soak: ${Math.round((shown - began) / 1_000)} s: ${seen} nodes ended, ${overRuns()} of ${RUNS} runs; ${JSON.stringify(counts)}\n`,
      );
    }
    // Takeovers take ten seconds each, and the database is down at times: two minutes without progress mean a deadlock.
    expect(performance.now() - last, `no progress for long, ${seen} nodes ended`).toBeLessThan(PACE * 120_000);
    return overRuns();
  };
  last = began;
  try {
    await expect.poll(progress, { timeout: PACE * 1_800_000, interval: 1_000 }).toBe(RUNS);
  } finally {
    over = true;
    await Promise.all(troubles);
  }
  const found = await Promise.all(
    runs.map(async (run) => {
      const events = await site.events(run);
      return { ...exactnessOf(events, site.asked), spent: turnsIn(events) };
    }),
  );
  const sum = (key: "unrecorded" | "takenOver"): number => found.reduce((total, one) => total + one[key], 0);
  process.stdout.write(
    `soak: ${JSON.stringify(counts)}; ${site.asked.length} requests, ${sum("takenOver")} tasks taken over, ${sum("unrecorded")} unrecorded turns repeated\n`,
  );
  expect(found.map(({ ends, status, twice, repeated, spent }) => ({ ends, status, twice, repeated, spent }))).toEqual(
    found.map(() => ({ ends: 1, status: "ok", twice: [], repeated: 0, spent: 2 * TASKS })),
  );
  for (const [at, { outputs }] of found.entries())
    for (const task of numbers(at + 1)) expect(outputs.get(idOf(task)), `task ${task}`).toBe(resultOf(task));
  const lines = site.lines();
  expect(new Set(lines).size).toBe(lines.length);
  await site.close();
}, 3_600_000);

const turnsIn = (events: readonly KeptEvent[]): number => events.filter(({ type }) => type === "turn.ended").length;

/** The recorded events of the runs; each event is read once. */
type RunsReader = Readonly<{
  more(): Promise<void>;
  ended(): number;
  over(): number;
  /** True once the run is recorded; before that there is nothing to take over. */
  began(run: string): boolean;
  /** Questions that wait for an answer. */
  open(): readonly Readonly<{ run: string; path: string }>[];
}>;

function readerOf({ connection: { database } }: EngineSite, runs: readonly string[]): RunsReader {
  const after = new Map(runs.map((run) => [run, -1]));
  const counted = { "node.ended": 0, "run.ended": 0 };
  const open = new Map<string, Readonly<{ run: string; path: string }>>();
  return {
    more: async () => {
      const rows = await database.query<{ run: string; seq: string; path: string; type: string }>(
        `select e.run, e.seq, e.path, e.event->>'type' as type from unnest($1::text[], $2::bigint[]) as w (run, after)
         join subcrew.events e on e.run = w.run and e.seq > w.after order by e.run, e.seq`,
        [[...after.keys()], [...after.values()]],
      );
      for (const { run, seq, path, type } of rows) {
        after.set(run, Number(seq));
        if (type === "node.ended" || type === "run.ended") counted[type] += 1;
        if (type === "gate.opened") open.set(`${run} ${path}`, { run, path });
        if (type === "gate.answered") open.delete(`${run} ${path}`);
      }
    },
    ended: () => counted["node.ended"],
    over: () => counted["run.ended"],
    began: (run) => after.get(run) !== -1,
    open: () => [...open.values()],
  };
}

/** Answers these questions, from this process. */
async function answerGates(
  site: EngineSite,
  open: readonly Readonly<{ run: string; path: string }>[],
): Promise<number> {
  let answered = 0;
  for (const { run, path } of open) {
    const receipt = await site.connection.store.post(
      run,
      { do: "answer", path, answer: { approve: true, by: "another process" } },
      { waitMs: 2_000, signal: AbortSignal.timeout(3_000), ended: async () => undefined },
    );
    if (receipt?.state === "done") answered += 1;
  }
  return answered;
}

test("a rolling restart of four workers under load loses and repeats nothing", async () => {
  const site = await openSite(postgres.server(), { turnMs: 200 });
  const workers = Array.from({ length: 4 }, () => site.worker(["--grace", "5s"]));
  await Promise.all(workers.map(({ ready }) => ready));
  const run = "run_rolling00000";
  const coordinator = site.coordinate(
    run,
    all(numbers(1).concat(numbers(2)), (task) => taskNode(task)),
    { concurrency: 32 },
  );
  for (const [at, worker] of workers.entries()) {
    await expect
      .poll(async () => (await site.events(run).catch(() => [])).filter(({ type }) => type === "node.ended").length, {
        timeout: 120_000,
      })
      .toBeGreaterThan(20 * (at + 1));
    const next = site.worker();
    await next.ready;
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toMatch(/^143/);
  }
  await coordinator.ended;
  const { ends, status, twice, repeated, unrecorded, takenOver, outputs } = exactnessOf(
    await site.events(run),
    site.asked,
  );
  expect({ ends, status, twice, repeated, unrecorded, takenOver, done: outputs.size - 1 }).toEqual({
    ends: 1,
    status: "ok",
    twice: [],
    repeated: 0,
    unrecorded: 0,
    takenOver: 0,
    done: 200,
  });
  expect(site.asked).toHaveLength(400);
  await site.close();
}, 600_000);
