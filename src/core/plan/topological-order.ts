import { type Needs, needsIn } from "./graph.ts";
import type { Body } from "./plan.ts";

/**
 * Topological order of the nodes; `left` are the nodes that cannot be ordered, because they are in a cycle or depend on
 * a cycle.
 */
export function orderOf(body: Body, needs: Needs = needsIn(body)): { order: string[]; left: string[] } {
  const all = new Map<string, Waiting>();
  for (const id of needs.keys()) all.set(id, { id, open: 0, dependents: [] });
  for (const waiting of all.values()) {
    for (const id of needs.get(waiting.id)!) {
      const need = all.get(id);
      if (!need) continue;
      need.dependents.push(waiting);
      waiting.open += 1;
    }
  }
  const order = [...all.values()].filter(({ open }) => open === 0);
  for (let next = 0; next < order.length; next += 1) {
    for (const waiting of order[next]!.dependents) {
      waiting.open -= 1;
      if (waiting.open === 0) order.push(waiting);
    }
  }
  const left = order.length === all.size ? [] : [...all.values()].filter(({ open }) => open > 0);
  return { order: order.map(({ id }) => id), left: left.map(({ id }) => id) };
}

type Waiting = { readonly id: string; open: number; readonly dependents: Waiting[] };

/**
 * One cycle of a plan as a path from node to dependency, with the first node again at the end; `undefined` when there
 * is none.
 */
export function cycleIn(body: Body, needs: Needs = needsIn(body)): string[] | undefined {
  const left = new Set(orderOf(body, needs).left);
  let [id] = left;
  if (id === undefined) return undefined;
  const path = new Map<string, number>();
  while (!path.has(id)) {
    path.set(id, path.size);
    // Every remaining node depends on another remaining node, so the walk finds a cycle.
    id = needs.get(id)!.find((need) => left.has(need))!;
  }
  return [...[...path.keys()].slice(path.get(id)), id];
}
