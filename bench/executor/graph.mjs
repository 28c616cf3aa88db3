// @ts-check

/**
 * A graph for all compared programs: nodes 0..n-1, each with the earlier nodes that it depends on.
 *
 * @typedef {{ name: string, needs: number[][] }} Graph
 * @typedef {import("../../src/core/plan/plan.ts").Plan} Plan
 */

/** How far back the dependencies of a node in the random graph may be. */
const WINDOW = 60;

/**
 * A random graph. Each node depends on one to three, on average two, of the 60 nodes before it, so the number of edges
 * per node does not depend on the size.
 *
 * @param {number} size
 * @param {number} seed
 * @returns {Graph}
 */
export function randomGraph(size, seed = 1) {
  const random = mulberry32(seed);
  const needs = Array.from({ length: size }, (_, index) => {
    const wanted = Math.min(index, 1 + Math.floor(random() * 3));
    const back = Math.min(index, WINDOW);
    return [...new Set(Array.from({ length: wanted }, () => index - 1 - Math.floor(random() * back)))];
  });
  return { name: "random", needs };
}

/**
 * Independent nodes; their results meet in the join at the end of the plan.
 *
 * @param {number} size
 * @returns {Graph}
 */
export const wideGraph = (size) => ({ name: "wide", needs: Array.from({ length: size }, () => []) });

/**
 * A chain: each node depends on the one before it.
 *
 * @param {number} size
 * @returns {Graph}
 */
export const chainGraph = (size) => ({
  name: "chain",
  needs: Array.from({ length: size }, (_, index) => (index === 0 ? [] : [index - 1])),
});

/** @param {number} index */
export const idOf = (index) => `n${index}`;

/**
 * The plan of a graph. The first dependency of a node is a placeholder in its prompt and the others are listed, so that
 * both kinds occur. The output is a join of all nodes on which no other node depends.
 *
 * @param {Graph} graph
 * @returns {Plan}
 */
export function planOf({ needs }) {
  const used = new Set(needs.flat());
  /** @type {Record<string, import("../../src/core/plan/plan.ts").Node>} */
  const nodes = {};
  for (const [index, [first, ...others]] of needs.entries()) {
    const prompt = first === undefined ? `Do step ${index}.` : `Do step ${index} with {${idOf(first)}}.`;
    nodes[idOf(index)] = { kind: "task", needs: others.map(idOf), task: { prompt } };
  }
  const sinks = needs.flatMap((_, index) => (used.has(index) ? [] : [idOf(index)]));
  nodes["all"] = { kind: "join", needs: sinks, pick: "settled" };
  return { nodes, output: "all" };
}

/**
 * The number of nodes on the longest path through a graph.
 *
 * @param {Graph} graph
 */
export function depthOf({ needs }) {
  /** @type {number[]} */
  const depth = [];
  for (const list of needs) depth.push(1 + Math.max(0, ...list.map((need) => depth[need] ?? 0)));
  return Math.max(...depth);
}

/**
 * A small random generator of numbers in [0, 1); the same seed gives the same numbers everywhere.
 *
 * @param {number} seed
 * @returns {() => number}
 */
function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
