// @ts-check
import { depthOf, planOf, randomGraph } from "./graph.mjs";
import { asyncAuto, pGraph, versions } from "./peers.mjs";
import { interleaved, median } from "./sample.mjs";
import { compile, execute, onDisk } from "./subcrew.mjs";

/** @typedef {import("./report.mjs").Report} Report */

const TASKS = 500;
const TASK_MS = 20;
const SEED = 1;
const ROUNDS = 7;
/** Ours over the better peer. */
const LIMIT = 1.03;

/**
 * How long a graph takes beside its critical path, for us and for schedulers that do nothing else.
 *
 * @returns {Promise<Report>}
 */
export async function makespan() {
  const graph = randomGraph(TASKS, SEED);
  const criticalMs = depthOf(graph) * TASK_MS;
  /** @type {Report} */
  const report = {
    title: `Makespan of ${TASKS} tasks of ${TASK_MS} ms in a random graph; its critical path takes ${criticalMs} ms`,
    how: `median of ${ROUNDS}, interleaved; from the plan as JSON to the result`,
    columns: ["", "ms", "/ critical path", "/ better peer", ""],
    rows: [],
    failed: [],
    raw: { tasks: TASKS, taskMs: TASK_MS, seed: SEED, criticalMs, limit: LIMIT },
  };
  for (const slots of [8, Number.POSITIVE_INFINITY]) await race(graph, slots, criticalMs, report);
  return report;
}

/**
 * @param {import("./graph.mjs").Graph} graph
 * @param {number} slots
 * @param {number} criticalMs
 * @param {Report} report
 */
async function race(graph, slots, criticalMs, report) {
  const disk = onDisk();
  const taken = await interleaved(contenders(graph, slots, disk.open), { rounds: ROUNDS, warmUp: 1 }).finally(disk.remove);
  const medians = new Map([...taken].map(([name, list]) => [name, median(list)]));
  const peer = Math.min(...[...medians].flatMap(([name, ms]) => (isOurs(name) ? [] : [ms])));
  const many = Number.isFinite(slots) ? `${slots} slots` : "unlimited";
  const bound = Math.max(criticalMs, Math.ceil(TASKS / slots) * TASK_MS);
  report.rows.push([`${many}: nothing can be faster than`, bound.toFixed(0), (bound / criticalMs).toFixed(3), "", ""]);
  for (const [name, ms] of medians) {
    const ratio = ms / peer;
    const ok = ratio <= LIMIT;
    if (isOurs(name) && !ok) report.failed.push(`${name}, ${many}: ${ratio.toFixed(3)} x the better peer`);
    const verdict = isOurs(name) ? `${ok ? "PASS" : "FAIL"} (limit ${LIMIT})` : "";
    report.rows.push([`  ${name}`, ms.toFixed(1), (ms / criticalMs).toFixed(3), ratio.toFixed(3), verdict]);
  }
  report.raw[many] = Object.fromEntries(taken);
}

/** @param {string} name */
const isOurs = (name) => name.startsWith("subcrew");

/**
 * @param {import("./graph.mjs").Graph} graph
 * @param {number} slots
 * @param {import("./subcrew.mjs").OpenJournal} journal
 * @returns {import("./sample.mjs").Contender[]}
 */
function contenders(graph, slots, journal) {
  const plan = planOf(graph);
  const work = () => new Promise((resolve) => setTimeout(resolve, TASK_MS));
  /** @type {import("./subcrew.mjs").Perform} */
  const perform = async () => {
    await work();
    return { status: "ok", output: "done" };
  };
  const ours = { perform, concurrency: slots };
  return [
    { name: "subcrew", run: () => execute(compile(plan), ours) },
    { name: "subcrew, file journal", run: () => execute(compile(plan), { ...ours, journal }) },
    { name: `p-graph ${versions["p-graph"]}`, run: () => pGraph(graph, slots, work) },
    { name: `async.auto ${versions["async"]}`, run: () => asyncAuto(graph, slots, (done) => setTimeout(done, TASK_MS)) },
  ];
}
