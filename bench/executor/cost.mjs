// @ts-check
import { chainGraph, planOf, randomGraph, wideGraph } from "./graph.mjs";
import { pGraph, versions } from "./peers.mjs";
import { interleaved, median } from "./sample.mjs";
import { compile, execute, holding, interrupted, recorded } from "./subcrew.mjs";

/**
 * @typedef {import("./report.mjs").Report} Report
 * @typedef {{ name: string, limit?: number, prepare: (size: number) => Promise<() => unknown> }} Work
 */

const SIZES = [100, 1_000, 10_000];
const ROUNDS = 7;
const WARM_UP = 2;
/** The largest allowed ratio of the cost per node in the largest plan to that in the smallest. */
const LIMIT = 1.5;
/**
 * The limit of growth for the work before a run: this work takes only a few µs, and its growth is mostly due to cache
 * misses.
 */
const PLAN_LIMIT = 4;

const shapes = [randomGraph, wideGraph, chainGraph];

/** @type {import("./subcrew.mjs").Perform} */
const nothing = async () => ({ status: "ok", output: "done" });

/**
 * Measures the cost of executing one node whose task costs nothing.
 *
 * @returns {Promise<Report>}
 */
export const costPerNode = () =>
  perNode("Cost per node of a run, with tasks that do nothing", [
    ...shapes.map((shape) => ({
      name: `${shape(1).name} graph, 8 slots`,
      limit: LIMIT,
      prepare: async (/** @type {number} */ size) => {
        const plan = planOf(shape(size));
        return () => execute(plan, { perform: nothing });
      },
    })),
    {
      name: `(p-graph ${versions["p-graph"]}, random graph)`,
      prepare: async (size) => {
        const graph = randomGraph(size);
        return () => pGraph(graph, 8, async () => {});
      },
    },
  ]);

/**
 * Measures the cost before and after execution: from JSON to a checked plan, and from the record of a run to its state.
 *
 * @returns {Promise<Report>}
 */
export const planCostPerNode = () =>
  perNode("Cost per node of compiling, checking and resuming plans", [
    ...shapes.map((shape) => ({
      name: `compile: plan, ${shape(1).name} graph`,
      limit: PLAN_LIMIT,
      prepare: async (/** @type {number} */ size) => {
        const plan = planOf(shape(size));
        return () => compile(plan);
      },
    })),
    {
      name: "compile: parallel, one agent",
      limit: PLAN_LIMIT,
      prepare: async (size) => {
        const tasks = Array.from({ length: size }, (_, index) => ({
          agent: "explore",
          task: index % 10 === 9 ? `Sum up {task_${index - 1}}.` : `Look at part ${index}.`,
        }));
        return () => compile({ mode: "parallel", tasks });
      },
    },
    {
      name: "resume: random graph, one task left",
      limit: PLAN_LIMIT,
      prepare: async (size) => {
        const plan = planOf(randomGraph(size));
        const journal = holding(await interrupted(plan, nothing, "last"));
        return () => execute(plan, { perform: nothing, journal, resume: true });
      },
    },
    {
      name: "resume: wide graph, all under way",
      limit: PLAN_LIMIT,
      prepare: async (size) => {
        const plan = planOf(wideGraph(size));
        const journal = holding(await interrupted(plan, nothing, "first"));
        return () => execute(plan, { perform: nothing, journal, resume: true });
      },
    },
    {
      name: "resume: reading the journal file",
      limit: PLAN_LIMIT,
      prepare: async (size) => {
        const { read, remove } = await recorded(planOf(randomGraph(size)), nothing);
        process.once("exit", remove);
        return read;
      },
    },
  ]);

/**
 * Executes the same number of nodes at every size, so that one large run takes as long as a hundred small ones.
 *
 * @param {string} title
 * @param {readonly Work[]} works
 * @returns {Promise<Report>}
 */
async function perNode(title, works) {
  const largest = Math.max(...SIZES);
  const contenders = [];
  for (const { name, prepare } of works) {
    for (const size of SIZES) {
      const once = await prepare(size);
      const run = async () => {
        for (let nodes = 0; nodes < largest; nodes += size) await once();
      };
      contenders.push({ name: `${name} ${size}`, run });
    }
  }
  const taken = await interleaved(contenders, { rounds: ROUNDS, warmUp: WARM_UP });
  /** @type {Report} */
  const report = {
    title,
    how: `µs per node, median of ${ROUNDS} after ${WARM_UP} to warm up, interleaved`,
    columns: ["", ...SIZES.map((size) => size.toLocaleString("en")), "largest / smallest", ""],
    rows: [],
    failed: [],
    raw: { sizes: SIZES, unit: "ms per 10,000 nodes", samples: Object.fromEntries(taken) },
  };
  for (const { name, limit } of works) {
    const costs = SIZES.map((size) => (median(taken.get(`${name} ${size}`) ?? []) * 1_000) / largest);
    const growth = (costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN);
    const ok = limit === undefined || growth <= limit;
    if (!ok) report.failed.push(`${name}: ${growth.toFixed(2)} x`);
    const verdict = limit === undefined ? "" : `${ok ? "PASS" : "FAIL"} (limit ${limit})`;
    report.rows.push([name, ...costs.map((cost) => cost.toFixed(1)), growth.toFixed(2), verdict]);
  }
  return report;
}
