// @ts-check
import { idOf, planOf, wideGraph } from "./graph.mjs";
import { heapUsed } from "./sample.mjs";
import { start } from "./subcrew.mjs";

/** @typedef {import("./report.mjs").Report} Report */

const NODES = 10_000;
const ROUNDS = 5;

/**
 * Measures the memory of a node that cannot start yet.
 *
 * @returns {Promise<Report>}
 */
export async function memoryPerWaitingNode() {
  const kinds = {
    "waiting for another node": behindOne(NODES),
    "ready, waiting for a slot": planOf(wideGraph(NODES + 1)),
  };
  /** @type {Report} */
  const report = {
    title: `Memory per waiting node, with ${NODES.toLocaleString("en")} of them`,
    how: `bytes of heap after garbage collection, least of ${ROUNDS}; the plan itself is not counted`,
    columns: ["", "bytes", ""],
    rows: [],
    failed: [],
    raw: { nodes: NODES },
  };
  for (const [name, plan] of Object.entries(kinds)) {
    const taken = [];
    for (let round = 0; round < ROUNDS; round += 1) taken.push((await waitingBytes(plan)) / NODES);
    report.rows.push([name, Math.min(...taken).toFixed(0), ""]);
    report.raw[name] = taken;
  }
  return report;
}

/**
 * A plan with one task that all other tasks wait for.
 *
 * @param {number} waiting
 */
function behindOne(waiting) {
  const graph = wideGraph(waiting + 1);
  return planOf({ ...graph, needs: graph.needs.map((_, index) => (index === 0 ? [] : [0])) });
}

/**
 * The heap of a run while its first task, the only one with a slot, does not end.
 *
 * @param {import("./graph.mjs").Plan} plan
 */
async function waitingBytes(plan) {
  const before = heapUsed();
  /** @type {(() => void) | undefined} */
  let goOn;
  const first = new Promise((resolve) => {
    goOn = () => resolve(undefined);
  });
  let begun = 0;
  const run = start(plan, {
    concurrency: 1,
    perform: async ({ path }) => {
      begun += 1;
      if (path === idOf(0)) await first;
      return { status: "ok", output: "done" };
    },
  });
  while (begun === 0) await new Promise((resolve) => setImmediate(resolve));
  const bytes = heapUsed() - before;
  if (begun !== 1) throw new Error(`${begun} tasks have begun, but there is only one slot`);
  goOn?.();
  await run;
  return bytes;
}
