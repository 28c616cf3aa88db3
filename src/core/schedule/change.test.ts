import { describe, expect, test } from "vitest";
import { failed, type Outcome } from "../outcome/outcome.ts";
import type { Body, Node, TaskNode } from "../plan/plan.ts";
import { isCrewError } from "../schema/error.ts";
import { applyChange, type Change, changedPlan } from "./change.ts";
import { begin, settle } from "./decide.ts";
import { type Schedule, schedule } from "./schedule.ts";

const task = (needs: readonly string[] = [], more: Partial<TaskNode["task"]> = {}): Node => ({
  kind: "task",
  needs,
  task: { prompt: "x", refs: {}, ...more },
});
const ok: Outcome = { status: "ok", output: "fine" };
const body: Body = {
  nodes: { a: task(), b: task(["a"]), c: task(["b"]), end: { kind: "join", needs: ["b", "c"], pick: "settled" } },
  output: "end",
};

function running(plan: Body = body): Schedule {
  const all = schedule(plan);
  begin(all);
  return all;
}
const needsOf = (all: Schedule, id: string): readonly string[] | undefined => all.entries.get(id)?.needs;
const stateOf = (all: Schedule): unknown =>
  structuredClone(
    [...all.entries.values()].map(({ id, node, needs, dependents, open, good, wanted, state, outcome }) => ({
      id,
      node,
      needs,
      dependents,
      open,
      good,
      wanted,
      state,
      outcome,
    })),
  );

describe("a change of the plan", () => {
  test("adds nodes that start when they can and feed the output", () => {
    const all = running();
    expect(applyChange(all, { newTasks: { d: task(), e: task(["d"]) } })).toEqual({
      start: ["d"],
      settled: [],
      cancel: [],
    });
    expect(needsOf(all, "end")).toEqual(["b", "c", "d", "e"]);
    expect(all.unsettled).toBe(6);
  });

  test("adds nodes that feed the named join", () => {
    const all = running();
    applyChange(all, { newTasks: { d: task() }, into: "c" });
    expect(needsOf(all, "c")).toEqual(["b", "d"]);
    expect(needsOf(all, "end")).toEqual(["b", "c"]);
  });

  test("skips a new node at once when one of its dependencies has failed", () => {
    const all = running({
      nodes: { a: task(), x: task(), end: { kind: "join", needs: ["a", "x"], pick: "settled" } },
      output: "end",
    });
    settle(all, "a", failed("CRASHED", "boom"));
    expect(applyChange(all, { newTasks: { d: task(["a"]) } }).settled).toEqual(["d"]);
    expect(all.entries.get("d")?.outcome).toEqual({ status: "skipped", because: "a" });
  });

  test("replaces the dependencies of a waiting node, which starts if they are met", () => {
    const all = running();
    expect(applyChange(all, { updateDependencies: { b: [] } }).start).toEqual(["b"]);
    expect(needsOf(all, "b")).toEqual([]);
  });

  test("stops running nodes, and cancels waiting nodes, that are no longer needed", () => {
    const all = running({
      nodes: { a: task(), b: task(), c: task(["b"]), end: { kind: "join", needs: ["a", "c"], pick: "settled" } },
      output: "end",
    });
    const step = applyChange(all, { updateDependencies: { end: ["a"] } });
    expect(step).toEqual({ start: [], settled: ["c"], cancel: ["b"] });
    expect(all.entries.get("c")?.outcome).toEqual({ status: "cancelled", reason: "no longer needed" });
  });

  test("keeps nodes that a prompt refers to as dependencies, and attaches the results of the new dependencies", () => {
    const handed = running({
      nodes: {
        a: task(),
        b: task(),
        t: { kind: "task", needs: ["a"], task: { prompt: "{a}", refs: { a: "a" }, include: [] } },
        end: { kind: "join", needs: ["a", "b", "t"], pick: "settled" },
      },
      output: "end",
    });
    applyChange(handed, { updateDependencies: { t: ["b"] } });
    expect(needsOf(handed, "t")?.toSorted()).toEqual(["a", "b"]);
    expect(handed.entries.get("t")?.node).toMatchObject({ task: { include: ["b"] } });
  });

  test("works inside a loop", () => {
    const inner: Body = {
      nodes: { work: task([], { include: ["a"] }), decide: task(["work"], { include: ["work"] }) },
      output: "work",
    };
    const all = running({
      nodes: {
        a: task(),
        b: task(),
        l: { kind: "loop", needs: ["a"], body: inner, until: "decide", max: 2, exhausted: "accept" },
        end: { kind: "join", needs: ["a", "b", "l"], pick: "settled" },
      },
      output: "end",
    });
    applyChange(all, { updateDependencies: { l: ["b"] } });
    expect(needsOf(all, "l")).toEqual(["b"]);
    expect(all.entries.get("l")?.node).toMatchObject({
      body: { nodes: { work: { task: { include: ["b"] } }, decide: { task: { include: ["work"] } } } },
    });
  });

  test("fails a cancelled waiting node at once, and a cancelled running node after it has stopped", () => {
    const all = running();
    expect(applyChange(all, { markFailed: { c: "not worth it", a: "too slow" } })).toEqual({
      start: [],
      settled: ["c"],
      cancel: ["a"],
    });
    settle(all, "a", ok);
    expect(all.entries.get("a")?.outcome).toEqual(failed("MARKED_FAILED", "too slow"));
  });

  test("lets a cancellation win over other changes of the same node", () => {
    const all = running({
      nodes: { a: task(), b: task(), end: { kind: "join", needs: ["a", "b"], pick: "settled" } },
      output: "end",
    });
    settle(all, "a", ok);
    applyChange(all, { updateDependencies: { end: ["a"] }, markFailed: { end: "no" } });
    expect(all.entries.get("end")?.outcome).toEqual(failed("MARKED_FAILED", "no"));
  });
});

describe("an invalid change is refused and changes nothing", () => {
  const loop: Node = {
    kind: "loop",
    body: { nodes: { w: task() }, output: "w" },
    until: "nobody",
    max: 1,
    exhausted: "accept",
  };
  test.each<[string, Change, string]>([
    ["an id that exists already", { newTasks: { b: task() } }, 'The plan already has a node "b".'],
    ["an unknown dependency", { newTasks: { d: task(["x"]) } }, 'Node "d" needs "x", which is not a node.'],
    [
      "an unknown reference",
      { newTasks: { d: { kind: "task", task: { prompt: "{x}" } } } },
      'Node "d" refers to {x}, which is not a node.',
    ],
    ["an invalid loop", { newTasks: { l: loop } }, 'The plan\'s `until` "nobody" is not one of its nodes.'],
    [
      "a node that does not exist",
      { updateDependencies: { x: [] } },
      'The dependencies of "x" cannot be changed: the plan has no such node.',
    ],
    [
      "a dependency that does not exist",
      { updateDependencies: { b: ["x"] } },
      'Node "b" would need "x", which is not a node.',
    ],
    [
      "a node that has started",
      { updateDependencies: { a: [] } },
      'Node "a" has already started, so its dependencies cannot change.',
    ],
    ["a cycle", { updateDependencies: { b: ["c"] } }, "The change would make a cycle: b -> c -> b."],
    [
      "a cycle through a new node",
      { newTasks: { d: task(["c"]) }, updateDependencies: { b: ["d"] } },
      "The change would make a cycle: d -> c -> b -> d.",
    ],
    [
      "a join of no nodes",
      { updateDependencies: { end: [] } },
      'Node "end" would be left with 0 nodes to join, which is too few.',
    ],
    [
      "cancelling a node that does not exist",
      { markFailed: { x: "?" } },
      'The node "x" cannot be cancelled: the plan has no such node.',
    ],
    [
      "one invalid part of many",
      { newTasks: { d: task() }, markFailed: { x: "?" } },
      'The node "x" cannot be cancelled: the plan has no such node.',
    ],
    [
      "a join that does not exist",
      { newTasks: { d: task() }, into: "x" },
      'The dependencies of "x" cannot be changed: the plan has no such node.',
    ],
  ])("%s", (_what, change, message) => {
    const all = running();
    const before = stateOf(all);
    let error: unknown;
    try {
      applyChange(all, change);
    } catch (thrown) {
      error = thrown;
    }
    expect(isCrewError(error) && [error.code, error.message]).toEqual(["BAD_CHANGE", message]);
    expect(stateOf(all)).toEqual(before);
    expect(all.unsettled).toBe(4);
  });

  test("a node that nothing would use", () => {
    const all = running({ nodes: { a: task(), b: task(["a"]) }, output: "b" });
    expect(() => applyChange(all, { newTasks: { d: task() } })).toThrow('Nothing would use the new node "d".');
  });

  test("a node that has ended", () => {
    const all = running();
    settle(all, "a", ok);
    expect(() => applyChange(all, { markFailed: { a: "late" } })).toThrow('Node "a" has already ended.');
  });
});

test("the changed plan has the same nodes as the executor after the change", () => {
  const change: Change = { newTasks: { d: task(["a"]) }, updateDependencies: { c: ["a"] } };
  const all = running();
  applyChange(all, change);
  expect(changedPlan(body, change).nodes).toEqual(
    Object.fromEntries([...all.entries].map(([id, { node }]) => [id, node])),
  );
});
