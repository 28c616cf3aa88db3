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
  ["as they are declared, where nothing says otherwise", { b: [], a: [] }, ["b", "a"], []],
  ["after what they need", { c: ["b"], b: ["a"], a: [] }, ["a", "b", "c"], []],
  ["once, though they are needed twice", { a: [], b: ["a"], c: ["a"], d: ["b", "c"] }, ["a", "b", "c", "d"], []],
  ["except those that hang on a cycle", { a: [], x: ["y"], y: ["x", "a"], z: ["y"] }, ["a"], ["x", "y", "z"]],
])("nodes are ordered %s", (_how, needs, order, left) => {
  expect(orderOf(body(needs))).toEqual({ order, left });
});

test.each<[Record<string, readonly string[]>, string[] | undefined]>([
  [{ a: [], b: ["a"] }, undefined],
  [{ a: ["b"], b: ["a"] }, ["a", "b", "a"]],
  [{ before: ["a"], a: ["c"], b: ["a"], c: ["b"] }, ["a", "c", "b", "a"]],
])("the cycle of %j is %j", (needs, wanted) => {
  expect(cycleIn(body(needs))).toEqual(wanted);
});
