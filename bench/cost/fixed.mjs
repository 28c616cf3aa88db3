// @ts-check
import { run as pi } from "../loop/contenders/pi-agent-core.mjs";
import { above, inTurns, less, middle, shown, taken } from "./measure.mjs";
import { ask, bare, crewAt, good } from "./site.mjs";

/** The number of warm-up rounds of a thousand nodes, after which V8 has compiled the code. */
const WARM_UP = 4;
const RUNS = 100;
const NODES = 1_000;

/** Measures the cost of one run with one model call, without the call itself. @type {import("./measure.mjs").Part} */
export async function run({ url, root, rounds }) {
  const at = `${url}/0/v1`;
  const crew = crewAt(at, root);
  const times = (/** @type {() => Promise<unknown>} */ work) => () =>
    taken(async () => {
      for (let n = 0; n < RUNS; n += 1) await work();
    });
  const raw = await inTurns(
    {
      subcrew: times(() => good(crew.run({ mode: "single", agent: "worker", task: "Go." }))),
      "bare call": times(() => bare(at, root)),
      pi: times(() => ask(pi, at, root)),
    },
    { rounds, warmUp: WARM_UP },
  );
  const [us, floor, peer] = [raw["subcrew"], raw["bare call"], raw["pi"]].map((all) => middle(all ?? [], RUNS));
  if (!us || !floor || !peer) throw new Error("nothing was measured");
  const [ours, theirs] = [less(us, floor), less(peer, floor)];
  const failed = above("milliseconds of a run", ours.wall, 5);
  return {
    title: "One run, one call of a model: milliseconds",
    how: `medians of ${rounds} rounds of ${RUNS}; the cost is the time beyond that of a bare call over node:http`,
    columns: ["", "wall", "cpu", "cost, wall", "cost, cpu", ""],
    rows: [
      [
        "subcrew",
        shown(us.wall),
        shown(us.cpu),
        shown(ours.wall),
        shown(ours.cpu),
        failed.length > 0 ? "FAIL" : "PASS",
      ],
      ["pi", shown(peer.wall), shown(peer.cpu), shown(theirs.wall), shown(theirs.cpu), ""],
      ["bare call", shown(floor.wall), shown(floor.cpu), "", "", ""],
    ],
    failed,
    raw: { each: RUNS, ...raw },
    table: [
      {
        what: "one run, fixed cost",
        ours: `${shown(ours.wall)} ms wall, ${shown(ours.cpu)} ms CPU`,
        peers: `pi ${shown(theirs.wall)} ms`,
        goal: "<= 5 ms with the journal",
        met: failed.length === 0,
      },
    ],
  };
}

/**
 * Measures the cost of one node with one model call, without the call itself, in a run of a thousand nodes with 8
 * slots.
 *
 * @type {import("./measure.mjs").Part}
 */
export async function node({ url, root, rounds }) {
  const at = `${url}/0/v1`;
  const crew = crewAt(at, root);
  const tasks = Array.from({ length: NODES }, (_, n) => ({ agent: "worker", task: "Go.", name: `t${n}` }));
  const raw = await inTurns(
    {
      subcrew: () => taken(() => good(crew.run({ mode: "parallel", tasks }, { concurrency: 8 }))),
      "bare call": () =>
        taken(async () => {
          for (let n = 0; n < NODES; n += 1) await bare(at, root);
        }),
    },
    { rounds, warmUp: WARM_UP },
  );
  const [us, floor] = [raw["subcrew"], raw["bare call"]].map((all) => middle(all ?? [], NODES));
  if (!us || !floor) throw new Error("nothing was measured");
  const ours = less(us, floor);
  const failed = above("cpu of a node", ours.cpu, 0.9);
  return {
    title: "One node of a run of 1,000, one call of a model: milliseconds",
    how: `medians of ${rounds} rounds; the cost is the time beyond that of a bare call over node:http`,
    columns: ["", "wall", "cpu", "cost, wall", "cost, cpu", ""],
    rows: [
      [
        "subcrew",
        shown(us.wall),
        shown(us.cpu),
        shown(ours.wall),
        shown(ours.cpu),
        failed.length > 0 ? "FAIL" : "PASS",
      ],
      ["bare call", shown(floor.wall), shown(floor.cpu), "", "", ""],
    ],
    failed,
    raw: { each: NODES, ...raw },
    table: [
      {
        what: "one node, fixed cost",
        ours: `${shown(ours.wall)} ms wall, ${shown(ours.cpu)} ms CPU`,
        peers: `bare call ${shown(floor.cpu)} ms`,
        goal: "<= 0.9 ms CPU",
        met: failed.length === 0,
      },
    ],
  };
}
