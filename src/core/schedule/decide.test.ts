import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { failed, type Outcome } from "../outcome/outcome.ts";
import type { Node } from "../plan/plan.ts";
import { begin, cancelAll, settle } from "./decide.ts";
import { type Schedule, schedule } from "./schedule.ts";

const task = (...needs: string[]): Node => ({ kind: "task", needs, task: { prompt: "x", refs: {} } });
const join = (pick: "settled" | "first", ...needs: string[]): Node => ({ kind: "join", needs, pick });
const ok = (output = ""): Outcome => ({ status: "ok", output });
const bad = failed("CRASHED", "boom");

/** A plan that was started and whose output is its last node. */
function begun(nodes: Record<string, Node>): { all: Schedule; start: string[] } {
  const all = schedule({ nodes, output: Object.keys(nodes).at(-1)! });
  return { all, start: begin(all).start };
}
const outcomeOf = (all: Schedule, id: string): Outcome | undefined => all.entries.get(id)?.outcome;

describe("which nodes start", () => {
  test("the nodes without dependencies start first, and no join starts", () => {
    expect(begun({ a: task(), b: task("a"), c: task(), end: join("settled", "b", "c") }).start).toEqual(["a", "c"]);
  });

  test("any other node starts once, when all its dependencies have ended", () => {
    const { all } = begun({ a: task(), b: task(), c: task("a", "b") });
    expect(settle(all, "a", ok())).toEqual({ start: [], settled: ["a"], cancel: [] });
    expect(settle(all, "b", ok())).toEqual({ start: ["c"], settled: ["b"], cancel: [] });
    expect(settle(all, "b", bad)).toEqual({ start: [], settled: [], cancel: [] });
    expect(outcomeOf(all, "b")).toEqual(ok());
  });
});

describe("which nodes are skipped", () => {
  test("every transitive dependent of a failed node is skipped, with the failed node as reason", () => {
    const { all } = begun({ a: task(), b: task("a"), c: task("b"), d: task("c") });
    expect(settle(all, "a", bad).settled).toEqual(["a", "b", "c", "d"]);
    expect(["b", "c", "d"].map((id) => outcomeOf(all, id))).toEqual(
      Array.from({ length: 3 }, () => ({ status: "skipped", because: "a" })),
    );
    expect(all.unsettled).toBe(0);
  });

  test("dependents of a cancelled node are skipped, too", () => {
    const { all } = begun({ a: task(), b: task("a") });
    settle(all, "a", { status: "cancelled", reason: "why" });
    expect(outcomeOf(all, "b")).toEqual({ status: "skipped", because: "a" });
  });
});

describe("nodes that are no longer needed", () => {
  test("a loser of a race is stopped if it runs, and cancelled if it waits", () => {
    const { all } = begun({
      a: task(),
      b: task(),
      slow: task(),
      late: task("slow"),
      end: join("first", "a", "b", "late"),
    });
    const step = settle(all, "b", ok("won"));
    expect(["a", "b", "slow"].map((id) => all.entries.get(id)?.moot)).toEqual([true, false, true]);
    expect(step.settled).toEqual(["b", "end", "late"]);
    expect(step.cancel.toSorted()).toEqual(["a", "slow"]);
    expect(outcomeOf(all, "late")).toEqual({ status: "cancelled", reason: "no longer needed" });
    expect(outcomeOf(all, "end")).toMatchObject({ status: "ok", output: "won", from: ["b"] });
  });

  test("a node that another node still needs continues", () => {
    const { all } = begun({ a: task(), b: task(), race: join("first", "a", "b"), all: join("settled", "b", "race") });
    expect(settle(all, "a", ok()).cancel).toEqual([]);
  });

  test("a running dependency of a skipped node is stopped, once", () => {
    const { all } = begun({ a: task(), b: task(), c: task("a", "b"), d: task("a", "b", "c") });
    expect(settle(all, "b", bad).cancel).toEqual(["a"]);
    expect(settle(all, "a", { status: "cancelled", reason: "" }).cancel).toEqual([]);
  });
});

describe("a join with work of its own, such as applying changes", () => {
  const racing = (): Schedule => {
    const { all } = begun({ a: task(), b: task(), other: task("b"), end: join("first", "a", "b") });
    all.entries.get("end")!.works = true;
    return all;
  };

  test("starts its work when the join has succeeded, and ends when the work is done", () => {
    const all = racing();
    expect(settle(all, "a", ok("won"))).toMatchObject({ start: ["end"], settled: ["a"] });
    expect(settle(all, "end", ok("applied"))).toEqual({ start: [], settled: ["end"], cancel: [] });
    expect(outcomeOf(all, "end")).toEqual(ok("applied"));
  });

  test("is not ended by a dependency that ends while it works", () => {
    const all = racing();
    settle(all, "a", ok("won"));
    expect(settle(all, "b", ok("late"))).toEqual({ start: ["other"], settled: ["b"], cancel: [] });
    expect(all.entries.get("end")).toMatchObject({ state: "running", good: 1 });
  });

  test("does not start its work when the join fails", () => {
    const all = racing();
    settle(all, "a", bad);
    expect(settle(all, "b", bad)).toMatchObject({ start: [], settled: ["b", "end", "other"] });
    expect(outcomeOf(all, "end")).toMatchObject({ status: "failed", fault: { code: "ALL_FAILED" } });
  });
});

test("a race for two winners waits for the second winner, and records the order in which nodes ended", () => {
  const end: Node = { kind: "join", needs: ["a", "b", "c"], pick: "first", count: 2 };
  const { all } = begun({ a: task(), b: task(), c: task(), end });
  expect(settle(all, "b", ok()).settled).toEqual(["b"]);
  expect(settle(all, "a", bad).settled).toEqual(["a"]);
  expect(settle(all, "c", ok()).settled).toEqual(["c", "end"]);
  expect(["b", "a", "c", "end"].map((id) => all.entries.get(id)?.rank)).toEqual([0, 1, 2, 3]);
});

test("cancelling the plan cancels waiting nodes and stops running nodes; a join keeps its gathered outputs", () => {
  const { all } = begun({ a: task(), b: task(), c: task("b"), end: join("settled", "a", "c") });
  settle(all, "a", ok("done"));
  expect(cancelAll(all, "why")).toEqual({ start: [], settled: ["c", "end"], cancel: ["b"] });
  expect(outcomeOf(all, "end")).toEqual({
    status: "cancelled",
    reason: "why",
    output: "## a\n\ndone\n\n## c\n\n(cancelled) cancelled: why",
  });
  expect(settle(all, "b", ok()).settled).toEqual(["b"]);
  expect(all.unsettled).toBe(0);
});

test("a node that a plan change cancelled ends with the reason of that change, whatever its outcome", () => {
  const { all } = begun({ a: task() });
  all.entries.get("a")!.givenUp = failed("MARKED_FAILED", "enough");
  settle(all, "a", ok("in the end"));
  expect(outcomeOf(all, "a")).toEqual(failed("MARKED_FAILED", "enough"));
});

test("deciding 10,000 nodes takes linear time", () => {
  const decided = (count: number) => {
    const nodes: Record<string, Node> = { root: task() };
    for (let n = 0; n < count; n += 1) nodes[`n${n}`] = task("root");
    nodes["end"] = join("settled", ...Object.keys(nodes));
    return (): void => {
      const { all } = begun(nodes);
      for (const id of ["root", ...settle(all, "root", ok()).start]) settle(all, id, ok());
      expect(all.unsettled).toBe(0);
    };
  };
  expect(growth({ small: decided(200), large: decided(10_000), pieces: 50 })).toBeLessThan(5);
});
