import { expect, test } from "vitest";
import type { Body } from "./plan.ts";
import { cycleIn, orderOf } from "./topological-order.ts";

const body = (needs: Record<string, readonly string[]>): Body => ({
  nodes: Object.fromEntries(
    Object.entries(needs).map(([id, list]) => [id, { kind: "task", needs: list, task: { prompt: "x", refs: {} } }]),
  ),
  output: Object.keys(needs).at(-1) ?? "",
});

test.each<[string, Record<string, readonly string[]>, string[], string[]]>([
  ["as they are declared, where no dependency decides", { b: [], a: [] }, ["b", "a"], []],
  ["after their dependencies", { c: ["b"], b: ["a"], a: [] }, ["a", "b", "c"], []],
  ["once, even if two nodes need them", { a: [], b: ["a"], c: ["a"], d: ["b", "c"] }, ["a", "b", "c", "d"], []],
  ["except those in or behind a cycle", { a: [], x: ["y"], y: ["x", "a"], z: ["y"] }, ["a"], ["x", "y", "z"]],
])("nodes are ordered %s", (_how, needs, order, left) => {
  expect(orderOf(body(needs))).toEqual({ order, left });
});

test.each<[Record<string, readonly string[]>, string[] | undefined]>([
  [{ a: [], b: ["a"] }, undefined],
  [{ a: ["b"], b: ["a"] }, ["a", "b", "a"]],
  [{ before: ["a"], a: ["c"], b: ["a"], c: ["b"] }, ["a", "c", "b", "a"]],
])("the cycle that is found in the plan %j is %j", (needs, wanted) => {
  expect(cycleIn(body(needs))).toEqual(wanted);
});
