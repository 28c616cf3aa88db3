// @ts-check
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { depthOf, idOf, planOf, randomGraph } from "../executor/graph.mjs";
import { asyncAuto, pGraph } from "../executor/peers.mjs";
import { median } from "../executor/sample.mjs";
import { above, inTurns, taken } from "./measure.mjs";
import { bare, crewAt, good } from "./site.mjs";

const LATENCY_MS = 20;
const NODES = 500;
const LIMITS = /** @type {const} */ ({ 8: 1.15, unlimited: 1.3 });

/**
 * Builds the same graph with LangGraph, with bare model calls as nodes. @param {import("../executor/graph.mjs").Graph}
 * graph @param {number} slots @param {() => Promise<unknown>} work
 */
async function langgraph({ needs }, slots, work) {
  /** @type {any} */
  const graph = new StateGraph(Annotation.Root({ done: Annotation({ reducer: (_, next) => next, default: () => 0 }) }));
  const used = new Set(needs.flat());
  for (const [index] of needs.entries())
    graph.addNode(idOf(index), async () => {
      await work();
      return { done: index };
    });
  for (const [index, list] of needs.entries()) {
    if (list.length === 0) graph.addEdge(START, idOf(index));
    else graph.addEdge(list.map(idOf), idOf(index));
    if (!used.has(index)) graph.addEdge(idOf(index), END);
  }
  await graph
    .compile()
    .invoke({ done: 0 }, { recursionLimit: NODES + 10, ...(Number.isFinite(slots) && { maxConcurrency: slots }) });
}

/**
 * Measures a graph (DAG) of real agents, compared with libraries that only schedule bare model calls. The lower bound
 * is the time of the calls alone.
 *
 * @type {import("./measure.mjs").Part}
 */
export async function dag({ url, root, rounds }) {
  const at = `${url}/${LATENCY_MS}/v1`;
  const crew = crewAt(at, root);
  const call = () => bare(at, root);
  /** @type {Record<string, Record<string, number[]>>} */
  const raw = {};
  for (const slots of [8, Number.POSITIVE_INFINITY]) {
    const graphOf = (/** @type {number} */ round) => randomGraph(NODES, round + 1);
    const boundOf = (/** @type {number} */ round) =>
      LATENCY_MS * Math.max(depthOf(graphOf(round)), Number.isFinite(slots) ? Math.ceil(NODES / slots) : 0);
    const timed =
      (/** @type {(graph: import("../executor/graph.mjs").Graph) => Promise<unknown>} */ work) =>
      async (/** @type {number} */ round) => {
        const graph = graphOf(round);
        return (await taken(() => work(graph))).wall / boundOf(round);
      };
    raw[Number.isFinite(slots) ? String(slots) : "unlimited"] = await inTurns(
      {
        subcrew: timed((graph) => {
          const { nodes, output } = planOf(graph);
          for (const one of Object.values(nodes)) if (one.kind === "task") Object.assign(one.task, { agent: "worker" });
          return good(crew.run({ nodes, output }, { concurrency: Number.isFinite(slots) ? slots : NODES }));
        }),
        "async.auto": timed((graph) => asyncAuto(graph, slots, (free) => void call().then(() => free()))),
        "p-graph": timed((graph) => pGraph(graph, slots, call)),
        langgraph: timed((graph) => langgraph(graph, slots, call)),
      },
      { rounds, warmUp: 2 },
    );
  }
  const ratio = (/** @type {string} */ slots, /** @type {string} */ who) => median(raw[slots]?.[who] ?? []);
  const failed = Object.entries(LIMITS).flatMap(([slots, limit]) =>
    above(`DAG, ${slots} slots, x bound`, ratio(slots, "subcrew"), limit),
  );
  const both = (/** @type {string} */ who) => `${ratio("8", who).toFixed(2)}x / ${ratio("unlimited", who).toFixed(2)}x`;
  return {
    title: `A DAG of ${NODES} agents, one call of ${LATENCY_MS} ms each: times the bound`,
    how: `medians of ${rounds} graphs after 2 that do not count; the bound is the longer of the critical path and the calls divided by the slots; peers make bare calls`,
    columns: ["slots", "subcrew", "async.auto", "p-graph", "langgraph", ""],
    rows: Object.entries(raw).map(([slots, of]) => [
      slots,
      ...Object.keys(of).map((who) => ratio(slots, who).toFixed(2)),
      "",
    ]),
    failed,
    raw,
    table: [
      {
        what: "DAG of 500 one-call agents, 8 slots / unlimited",
        ours: `${both("subcrew")} the bound`,
        peers: `on bare calls: async.auto ${both("async.auto")}, p-graph ${both("p-graph")}, langgraph ${both("langgraph")}`,
        goal: "<= 1.15x / <= 1.3x",
        met: failed.length === 0,
      },
    ],
  };
}
