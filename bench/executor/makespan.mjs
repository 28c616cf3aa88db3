// @ts-check
import { depthOf, planOf, randomGraph } from "./graph.mjs";
import { asyncAuto, pGraph, versions } from "./peers.mjs";
import { interleaved, median } from "./sample.mjs";
import { execute, onDisk } from "./subcrew.mjs";

/**
 * @typedef {import("./report.mjs").Report} Report
 * @typedef {import("./graph.mjs").Graph} Graph
 * @typedef {{ name: string, ours: boolean, run: (graph: Graph, slots: number, ms: number) => Promise<unknown> }} Scheduler
 */

const TASKS = 500;
const TASK_MS = 20;
/** One graph for each round, because with a single graph the best order would be a matter of luck. */
const GRAPHS = Array.from({ length: 7 }, (_, index) => randomGraph(TASKS, index + 1));
/** Rounds without any waiting, so that the code of all compared programs is compiled before it is measured. */
const WARM_UP = 30;
/** The largest allowed ratio of subcrew's time to that of the better of the other libraries. */
const LIMIT = 1.03;

/**
 * Measures the time for graphs relative to their critical paths, for subcrew and for libraries that only schedule.
 *
 * @returns {Promise<Report>}
 */
export async function makespan() {
  const disk = onDisk();
  const schedulers = contenders(disk.open);
  /** @type {Report} */
  const report = {
    title: `Makespan of ${TASKS} tasks of ${TASK_MS} ms in a random graph`,
    how: `median over ${GRAPHS.length} graphs, all contenders in turn on each; from the checked plan to the result`,
    columns: ["", "ms", "/ critical path", "/ better peer", ""],
    rows: [],
    failed: [],
    raw: { tasks: TASKS, taskMs: TASK_MS, criticalMs: GRAPHS.map(criticalMsOf), limit: LIMIT },
  };
  try {
    for (let round = 0; round < WARM_UP; round += 1) {
      for (const { run } of schedulers) await run(GRAPHS[round % GRAPHS.length] ?? randomGraph(TASKS), 8, 0);
    }
    for (const slots of [8, Number.POSITIVE_INFINITY]) await race(schedulers, slots, report);
  } finally {
    disk.remove();
  }
  return report;
}

/**
 * @param {readonly Scheduler[]} schedulers
 * @param {number} slots
 * @param {Report} report
 */
async function race(schedulers, slots, report) {
  const taken = await interleaved(
    schedulers.map(({ name, run }) => ({
      name,
      run: (round) => run(GRAPHS[round] ?? randomGraph(TASKS), slots, TASK_MS),
    })),
    { rounds: GRAPHS.length, warmUp: 1 },
  );
  const many = Number.isFinite(slots) ? `${slots} slots` : "unlimited";
  report.raw[many] = Object.fromEntries(taken);

  const bounds = GRAPHS.map((graph) => Math.max(criticalMsOf(graph), Math.ceil(TASKS / slots) * TASK_MS));
  report.rows.push([`${many}: no schedule is shorter than`, ...figures(bounds), "", ""]);
  const peers = schedulers.filter(({ ours }) => !ours).map(({ name }) => taken.get(name) ?? []);
  const better = peers.reduce((a, b) => (median(b) < median(a) ? b : a));
  for (const { name, ours } of schedulers) {
    const times = taken.get(name) ?? [];
    const ratio = median(times.map((ms, round) => ms / (better[round] ?? Number.NaN)));
    const ok = ratio <= LIMIT;
    if (ours && !ok) report.failed.push(`${name}, ${many}: ${ratio.toFixed(3)} x the better peer`);
    const verdict = ours ? `${ok ? "PASS" : "FAIL"} (limit ${LIMIT})` : "";
    report.rows.push([`  ${name}`, ...figures(times), ratio.toFixed(3), verdict]);
  }
}

/** @param {Graph} graph */
const criticalMsOf = (graph) => depthOf(graph) * TASK_MS;

/**
 * The milliseconds and the multiple of the critical path, each as the median over the graphs.
 *
 * @param {readonly number[]} times
 */
function figures(times) {
  const paths = times.map((ms, index) => ms / criticalMsOf(GRAPHS[index] ?? randomGraph(TASKS)));
  return [median(times).toFixed(0), median(paths).toFixed(3)];
}

/**
 * @param {import("./subcrew.mjs").OpenJournal} journal
 * @returns {Scheduler[]}
 */
function contenders(journal) {
  const plans = new Map(GRAPHS.map((graph) => [graph, planOf(graph)]));
  const planFor = (/** @type {Graph} */ graph) => plans.get(graph) ?? planOf(graph);
  const rest = (/** @type {number} */ ms) =>
    new Promise((resolve) => (ms === 0 ? resolve(undefined) : setTimeout(resolve, ms)));
  /** @type {(ms: number) => import("./subcrew.mjs").Perform} */
  const performing = (ms) => async () => {
    await rest(ms);
    return { status: "ok", output: "done" };
  };
  return [
    {
      name: "subcrew",
      ours: true,
      run: (graph, slots, ms) => execute(planFor(graph), { perform: performing(ms), concurrency: slots }),
    },
    {
      name: "subcrew, file journal",
      ours: true,
      run: (graph, slots, ms) => execute(planFor(graph), { perform: performing(ms), concurrency: slots, journal }),
    },
    {
      name: `p-graph ${versions["p-graph"]}`,
      ours: false,
      run: (graph, slots, ms) => pGraph(graph, slots, () => rest(ms)),
    },
    {
      name: `async.auto ${versions["async"]}`,
      ours: false,
      run: (graph, slots, ms) => asyncAuto(graph, slots, (done) => setTimeout(done, ms)),
    },
  ];
}
