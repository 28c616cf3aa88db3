import type { Outcome } from "../outcome/outcome.ts";
import { needsOf } from "../plan/graph.ts";
import type { Body, Node } from "../plan/plan.ts";

/**
 * The dependency graph with its current state. It has one owner and is changed in place: each event touches only the
 * neighbours of a node, so that events stay cheap with 10,000 nodes.
 */
export type Schedule = {
  readonly entries: Map<string, ScheduleEntry>;
  readonly roots: ReadonlySet<string>;
  unsettled: number;
  /** The number of nodes that have ended. It is also the rank of the next node that ends. */
  ended: number;
};

export type ScheduleEntry = {
  readonly id: string;
  node: Node;
  needs: string[];
  dependents: string[];
  /** How many dependencies of the node have not ended. */
  open: number;
  /** How many dependencies of the node succeeded. */
  good: number;
  /**
   * How many dependents of the node have not ended. A root (a node whose result is wanted) has one more, so that it
   * never counts as unneeded.
   */
  wanted: number;
  state: "waiting" | "running" | "settled";
  outcome: Outcome | undefined;
  /** The position of this node among all ended nodes, from 0. */
  rank: number;
  /** True for a running node that is no longer needed. */
  moot: boolean;
  /** The outcome that a running node gets once it has been stopped, regardless of the outcome it returns itself. */
  givenUp: Outcome | undefined;
  /**
   * True for a join that has work to do once it succeeds, such as applying changes: it starts then, and ends when that
   * work is done.
   */
  works: boolean;
  /** The outcome of a join that has started its own work, such as applying changes. */
  decided: Outcome | undefined;
};

/**
 * The consequences of an event: nodes to start, nodes that have ended, nodes to cancel. Each node is in `settled`
 * exactly once.
 */
export type Step = { start: string[]; settled: string[]; cancel: string[] };

/** Creates the schedule of a plan; `roots` are the nodes whose results are wanted. */
export function schedule(body: Body, roots: readonly string[] = [body.output]): Schedule {
  const entries = new Map<string, ScheduleEntry>();
  for (const [id, node] of Object.entries(body.nodes)) entries.set(id, entryOf(id, node));
  for (const entry of entries.values()) linkEntry(entries, entry);
  for (const root of roots) entries.get(root)!.wanted += 1;
  return { entries, roots: new Set(roots), unsettled: entries.size, ended: 0 };
}

/** An entry that is not yet connected to its dependencies. */
export function entryOf(id: string, node: Node): ScheduleEntry {
  return {
    id,
    node,
    needs: [],
    dependents: [],
    open: 0,
    good: 0,
    wanted: 0,
    state: "waiting",
    outcome: undefined,
    rank: -1,
    moot: false,
    givenUp: undefined,
    works: false,
    decided: undefined,
  };
}

/** True for one of these nodes, and for a node that depends on one of them, directly or indirectly. */
export function dependsOn(all: Schedule, id: string, on: ReadonlySet<string>): boolean {
  const above = new Set([id]);
  for (const each of above) {
    if (on.has(each)) return true;
    for (const need of all.entries.get(each)?.needs ?? []) above.add(need);
  }
  return false;
}

/** Links an entry to its dependencies; dependencies outside of the plan count as fulfilled. */
export function linkEntry(
  entries: ReadonlyMap<string, ScheduleEntry>,
  entry: ScheduleEntry,
  needs: readonly string[] = needsOf(entry.node),
): void {
  entry.needs = needs.filter((need) => entries.has(need));
  for (const id of entry.needs) {
    const need = entries.get(id)!;
    need.dependents.push(entry.id);
    need.wanted += 1;
    if (need.state !== "settled") entry.open += 1;
    else if (need.outcome?.status === "ok") entry.good += 1;
  }
}
