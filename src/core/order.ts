import { needsOf } from "./graph.ts";
import type { Body } from "./plan.ts";

/** The nodes of a plan, each after all that it needs, as far as that goes; what is `left` hangs on a cycle. */
export function orderOf(body: Body): { order: string[]; left: string[] } {
  const open = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const id of Object.keys(body.nodes)) dependents.set(id, []);
  for (const id of dependents.keys()) {
    const inside = needsInside(body, id);
    open.set(id, inside.length);
    for (const need of inside) dependents.get(need)!.push(id);
  }
  const order = [...open].filter(([, count]) => count === 0).map(([id]) => id);
  for (let next = 0; next < order.length; next += 1) {
    for (const id of dependents.get(order[next]!)!) {
      const count = open.get(id)! - 1;
      open.set(id, count);
      if (count === 0) order.push(id);
    }
  }
  return { order, left: order.length === open.size ? [] : [...open].filter(([, count]) => count > 0).map(([id]) => id) };
}

/** One cycle of a plan as a path along needs, first node again at the end; `undefined` when there is none. */
export function cycleIn(body: Body): string[] | undefined {
  const left = new Set(orderOf(body).left);
  let [id] = left;
  if (id === undefined) return undefined;
  const path = new Map<string, number>();
  while (!path.has(id)) {
    path.set(id, path.size);
    // Whatever is left over still waits for something that is left over, so the walk cannot end.
    id = needsInside(body, id).find((need) => left.has(need))!;
  }
  return [...[...path.keys()].slice(path.get(id)), id];
}

function needsInside(body: Body, id: string): string[] {
  return needsOf(body.nodes[id]!).filter((need) => Object.hasOwn(body.nodes, need));
}
