// @ts-check
import { createRequire } from "node:module";
import { idOf } from "./graph.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */

const load = createRequire(import.meta.url); // both packages are CommonJS, and one has no types
const { PGraph } = load("p-graph");
const { auto } = load("async");

/** @type {Record<string, string>} */
export const versions = {
  "p-graph": load("p-graph/package.json").version,
  async: load("async/package.json").version,
};

/**
 * @param {Graph} graph
 * @param {number} slots
 * @param {() => Promise<unknown>} work
 * @returns {Promise<void>}
 */
export async function pGraph({ needs }, slots, work) {
  const nodes = new Map(needs.map((_, index) => [idOf(index), { run: work }]));
  const edges = needs.flatMap((list, index) => list.map((need) => [idOf(need), idOf(index)]));
  await new PGraph(nodes, edges).run(Number.isFinite(slots) ? { concurrency: slots } : {});
}

/**
 * @param {Graph} graph
 * @param {number} slots
 * @param {(done: () => void) => void} work
 * @returns {Promise<void>}
 */
export async function asyncAuto({ needs }, slots, work) {
  const tasks = Object.fromEntries(
    needs.map((list, index) => [
      idOf(index),
      list.length === 0
        ? work
        : [...list.map(idOf), (/** @type {unknown} */ _results, /** @type {() => void} */ done) => work(done)],
    ]),
  );
  await (Number.isFinite(slots) ? auto(tasks, slots) : auto(tasks));
}
