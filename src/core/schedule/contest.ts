import type { Schedule, ScheduleEntry } from "./schedule.ts";

/**
 * The joins that may use other nodes instead of this node, as in a race; empty when another node needs this node's
 * result.
 */
export function pickingJoins(all: Schedule, id: string): ScheduleEntry[] {
  const entry = all.entries.get(id);
  if (!entry || entry.dependents.length === 0 || all.roots.has(id)) return [];
  const joins = entry.dependents.map((dependent) => all.entries.get(dependent)!);
  return joins.every(({ node }) => node.kind === "join" && node.pick === "first") ? joins : [];
}

/**
 * The contender (competing node of a race) that a node works for. It is the node itself if a join may choose other
 * nodes instead of it, else the nearest dependent that receives all its results. `undefined`: the result of the node is
 * used, regardless of which contender wins.
 */
export function contenderOf(all: Schedule, id: string): string | undefined {
  for (let at = id; ; ) {
    if (pickingJoins(all, at).length > 0) return at;
    const { dependents } = all.entries.get(at)!;
    if (dependents.length === 0 || all.roots.has(at)) return undefined;
    if (dependents.length > 1) return common(all, dependents);
    at = dependents[0]!;
  }
}

/**
 * The contenders (competing nodes of a race) that a node works for, the nearest first: a contender may itself be part
 * of another contender.
 */
export function contendersOf(all: Schedule, id: string): string[] {
  const found: string[] = [];
  for (let at = contenderOf(all, id); at !== undefined; at = common(all, all.entries.get(at)!.dependents))
    found.push(at);
  return found;
}

function common(all: Schedule, ids: readonly string[]): string | undefined {
  const found = new Set(ids.map((id) => contenderOf(all, id)));
  return found.size === 1 ? [...found][0] : undefined;
}
