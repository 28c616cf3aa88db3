import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import { emptyState, reduce } from "../../src/core/run/state.ts";
import { compile } from "../../src/modes/compile.ts";
import { type Act, bad, observe, ok } from "../runtime/execute/lab.ts";
import { noFaults } from "./faults.ts";
import { graphsHold, nonsenseIsRefused } from "./graphs.ts";
import { poolHolds } from "./pool.ts";
import { brokenRules } from "./rules.ts";
import { simulate } from "./simulate.ts";

test("SIM-04: 2,000 orders of a pool of workers: never too many at once, results in order, and no worker left after an abort", () =>
  poolHolds({ numRuns: 2_000, seed: 4 }));

describe("SIM-05: graphs of up to 30 nodes", () => {
  test("start in order, skip the dependents of a failure, and leave no node waiting", () =>
    graphsHold({ numRuns: 500, seed: 5 }));
  test("with a cycle, a self-reference, an unknown or a duplicate name are refused before anything starts", () =>
    nonsenseIsRefused({ numRuns: 300, seed: 5 }));
});

describe("SIM-06: a race", () => {
  const fates: Readonly<Record<string, Act>> = {
    wins: ok("mine"),
    fails: bad(),
    stops: { ends: { status: "cancelled", reason: "stopped by the person" } },
  };

  test("of up to four contenders, with every outcome in every order, has one winner or one failure, and its losers are stopped", async () => {
    let played = 0;
    for (let size = 1; size <= 4; size += 1)
      for (const ends of tuples(Object.keys(fates), size))
        for (const order of permutations(ends.map((_, at) => at))) {
          played += 1;
          const agents = ends.map((_, at) => `a${at}`);
          const plan = compile({ mode: "race", race: { task: "run", agents } });
          const ids = Object.keys(plan.nodes).filter((id) => plan.nodes[id]!.kind === "task");
          const seen = await observe({
            plan,
            slots: 4,
            // All contenders begin in order and take one moment; each choice is the contender's position among the
            // remaining ones.
            choices: order.map((who, at) => who - order.slice(0, at).filter((before) => before < who).length),
            act: ({ path }) => fates[ends[ids.indexOf(path)]!]!,
          });
          const first = order.find((who) => ends[who] === "wins");
          const { outcome, outcomeOf } = seen.executed;
          const told = `${ends.join(" ")} in the order ${order.join(" ")}`;
          if (first === undefined) {
            expect(outcome, told).toMatchObject({ status: "failed", fault: { code: "ALL_FAILED" } });
            continue;
          }
          expect(outcome, told).toMatchObject({ status: "ok", output: "mine", from: [ids[first]] });
          const late = order.slice(order.indexOf(first) + 1).map((who) => outcomeOf(ids[who]!) as Outcome);
          for (const loser of late) expect(loser, told).toEqual({ status: "cancelled", reason: "no longer needed" });
        }
    expect(played).toBe(3 + 9 * 2 + 27 * 6 + 81 * 24);
  });

  test("counts the cost of its losers, and stops their models and tools", async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const agents = ["lead", "looker", "writer", "all"].slice(0, 2 + (seed % 3));
      const plan = compile({ mode: "race", race: { task: "run", agents } });
      const story = await simulate(seed, { plan, slots: 4, faults: noFaults });
      expect(brokenRules(story), `seed ${seed}`).toEqual([]);
      const { usage, cost } = story.journal.reduce(reduce, emptyState("race"));
      const turns = story.journal.filter((event) => event.type === "turn.ended");
      expect(usage.turns).toBe(turns.length);
      expect(cost.usd).toBeCloseTo(0.001 * turns.length);
    }
  });
});

function tuples<T>(from: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return tuples(from, size - 1).flatMap((rest) => from.map((one) => [...rest, one]));
}

function permutations(of: readonly number[]): number[][] {
  if (of.length <= 1) return [[...of]];
  return of.flatMap((first) => permutations(of.filter((other) => other !== first)).map((rest) => [first, ...rest]));
}
