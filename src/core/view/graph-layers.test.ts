import fc from "fast-check";
import { expect, test } from "vitest";
import { layersOf } from "./graph-layers.ts";

test("graph layers: a node is placed one layer after the last node that it needs", () => {
  const layers = layersOf(
    new Map([
      ["ship", ["test", "docs", "unknown"]],
      ["test", ["api"]],
      ["docs", []],
      ["api", ["docs"]],
    ]),
  );
  expect(layers).toEqual([["docs"], ["api"], ["test"], ["ship"]]);
});

test("graph layers: nodes are reordered so that fewer edges cross", () => {
  const layers = layersOf(
    new Map([
      ["a", []],
      ["b", []],
      ["below b", ["b"]],
      ["below a", ["a"]],
    ]),
  );
  expect(layers[1]).toEqual(layers[0]!.map((id) => `below ${id}`));
});

test("graph layers: all nodes of a cycle are placed, after the nodes outside of it", () => {
  const layers = layersOf(
    new Map([
      ["a", ["b"]],
      ["b", ["a"]],
      ["c", []],
    ]),
  );
  expect(layers).toEqual([["c"], ["a", "b"]]);
});

test("graph layers: in any graph every node is in one layer, after all nodes that it needs", () => {
  const graph = fc.array(fc.array(fc.nat(60), { maxLength: 4 }), { maxLength: 60 });
  fc.assert(
    fc.property(graph, (lists) => {
      const needs = new Map(lists.map((list, at) => [`n${at}`, list.filter((to) => to < at).map((to) => `n${to}`)]));
      const layers = layersOf(needs);
      const depth = new Map(layers.flatMap((layer, at) => layer.map((id) => [id, at] as const)));
      expect([...depth.keys()].toSorted()).toEqual([...needs.keys()].toSorted());
      for (const [id, list] of needs) for (const need of list) expect(depth.get(need)!).toBeLessThan(depth.get(id)!);
    }),
  );
});
