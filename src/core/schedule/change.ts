import { z } from "zod";
import { failed, type Outcome } from "../outcome/outcome.ts";
import { checkNode, suggestion } from "../plan/check.ts";
import { needsOf, refsOf, targetOf } from "../plan/graph.ts";
import { type Body, NODE_ID, type Node, node, type TaskNode } from "../plan/plan.ts";
import { CrewError, isCrewError } from "../schema/error.ts";
import { NOT_NEEDED, release, settle } from "./decide.ts";
import { joinOutcome } from "./join.ts";
import { entryOf, linkEntry, type Schedule, type ScheduleEntry, type Step } from "./schedule.ts";

/** A change to the plan of a running run: new nodes, new dependencies, cancelled nodes. */
export const change = z.strictObject({
  newTasks: z.record(z.string().regex(NODE_ID), node).optional().describe("nodes to add"),
  into: z.string().optional().describe("the join that collects the new nodes; the plan's output by default"),
  updateDependencies: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe("new dependencies of nodes that have not started"),
  markFailed: z.record(z.string(), z.string()).optional().describe("nodes to cancel, with the reason"),
});
export type Change = Readonly<{
  newTasks?: Readonly<Record<string, Node>> | undefined;
  into?: string | undefined;
  updateDependencies?: Readonly<Record<string, readonly string[]>> | undefined;
  markFailed?: Readonly<Record<string, string>> | undefined;
}>;

/** Applies a change atomically: an invalid change throws and has no effect. */
export function applyChange(all: Schedule, asked: Change): Step {
  const { newTasks = {}, markFailed = {} } = asked;
  const added = Object.keys(newTasks);
  checkAdded(all, newTasks);
  const changed = changedNodes(asked, (id) => all.entries.get(id)?.node, [...all.roots]);
  checkChanged(all, changed, added);
  checkGivenUp(all, Object.keys(markFailed));
  const wiring = new Map([...changed].map(([id, after]) => [id, needsOf(after)]));
  checkCycle(all, wiring);
  checkWanted(all, added, wiring);

  const step: Step = { start: [], settled: [], cancel: [] };
  const append = (more: Step): void => {
    for (const id of more.start) step.start.push(id);
    for (const id of more.settled) step.settled.push(id);
    for (const id of more.cancel) step.cancel.push(id);
  };
  for (const id of added) {
    all.entries.set(id, entryOf(id, changed.get(id)!));
    all.unsettled += 1;
  }
  const dropped: ScheduleEntry[] = [];
  for (const [id, needs] of wiring) {
    const entry = all.entries.get(id)!;
    entry.node = changed.get(id)!;
    for (const need of rewire(all, entry, needs)) dropped.push(need);
  }
  for (const [id, reason] of Object.entries(markFailed)) {
    const entry = all.entries.get(id)!;
    const outcome = failed("MARKED_FAILED", reason);
    if (entry.state !== "running") append(settle(all, id, outcome));
    else {
      entry.givenUp = outcome;
      step.cancel.push(id);
    }
  }
  for (const id of wiring.keys()) append(review(all, all.entries.get(id)!));
  for (const entry of dropped) {
    if (entry.wanted > 0 || entry.state === "settled" || entry.moot) continue;
    if (entry.state === "waiting") append(settle(all, entry.id, { status: "cancelled", reason: NOT_NEEDED }));
    else {
      entry.moot = true;
      step.cancel.push(entry.id);
    }
  }
  return step;
}

/** The plan as it is after an applied change. */
export function changedPlan<P extends Body>(plan: P, change: Change): P {
  const changed = changedNodes(change, (id) => plan.nodes[id], [plan.output]);
  return { ...plan, nodes: { ...plan.nodes, ...Object.fromEntries(changed) } };
}

/** The plan after a recorded change; a change that does not fit the plan, as in a damaged journal, has no effect. */
export function planAfter<P extends Body>(plan: P, change: Change): P {
  try {
    return changedPlan(plan, change);
  } catch (error) {
    if (isCrewError(error)) return plan;
    throw error;
  }
}

/** Every node that is new or has other dependencies, as it is after the change. */
function changedNodes(
  { newTasks = {}, into, updateDependencies = {} }: Change,
  nodeOf: (id: string) => Node | undefined,
  roots: readonly string[],
): Map<string, Node> {
  const changed = new Map(Object.entries(newTasks));
  const current = (id: string): Node | undefined => changed.get(id) ?? nodeOf(id);
  const rewired = (id: string, needs: readonly string[]): void => {
    const before = current(id);
    if (!before)
      throw new CrewError(
        "BAD_CHANGE",
        `The dependencies of "${id}" cannot be changed: the plan has no such node.`,
        "Name a node of the plan, or add it under `newTasks`.",
      );
    changed.set(id, withNeeds(before, [...new Set(needs)]));
  };
  for (const [id, needs] of Object.entries(updateDependencies)) rewired(id, needs);
  const fresh = Object.keys(newTasks);
  const gatherer = into ?? roots.find((root) => nodeOf(root)?.kind === "join");
  if (gatherer !== undefined && fresh.length > 0)
    rewired(gatherer, [...(current(gatherer)?.needs ?? []), ...fresh.filter((id) => id !== gatherer)]);
  return changed;
}

/**
 * A node with new dependencies. References in its prompt stay dependencies; only the results of the new dependencies
 * are attached.
 */
function withNeeds(before: Node, needs: readonly string[]): Node {
  if (before.kind === "join" || before.kind === "gate") return { ...before, needs };
  if (before.kind === "task") return { ...handing(before, needs), needs };
  return { ...before, needs, body: handingInside(before.body, needs) };
}

function handingInside(body: Body, needs: readonly string[]): Body {
  const isInside = (id: string): boolean => Object.hasOwn(body.nodes, id);
  const follow = (inner: Node): Node => {
    if (inner.kind === "loop") return { ...inner, body: handingInside(inner.body, needs) };
    return inner.kind === "task" && !inner.task.include?.some(isInside) ? handing(inner, needs) : inner;
  };
  return { ...body, nodes: Object.fromEntries(Object.entries(body.nodes).map(([id, inner]) => [id, follow(inner)])) };
}

function handing(before: TaskNode, needs: readonly string[]): TaskNode {
  if (before.task.include === undefined) return before;
  const referred = new Set(Object.values(refsOf(before)).map(targetOf));
  return { ...before, task: { ...before.task, include: needs.filter((need) => !referred.has(need)) } };
}

/** Checks new nodes like the nodes of a plan, but with the error code for changes. */
function checkAdded(all: Schedule, newTasks: Readonly<Record<string, Node>>): void {
  const has = (id: string): boolean => all.entries.has(id) || Object.hasOwn(newTasks, id);
  const ids = [...all.entries.keys(), ...Object.keys(newTasks)];
  for (const [id, added] of Object.entries(newTasks)) {
    if (all.entries.has(id))
      throw new CrewError("BAD_CHANGE", `The plan already has a node "${id}".`, "Give the new node another name.");
    try {
      checkNode(id, added, { has, ids, outer: () => false, depth: 0 });
    } catch (error) {
      throw isCrewError(error) ? new CrewError("BAD_CHANGE", error.message, error.hint, { cause: error }) : error;
    }
  }
}

function checkChanged(all: Schedule, changed: ReadonlyMap<string, Node>, added: readonly string[]): void {
  const fresh = new Set(added);
  for (const [id, after] of changed) {
    const state = all.entries.get(id)?.state ?? "waiting";
    if (state !== "waiting") {
      const why = state === "running" ? "has already started" : "has already ended";
      throw new CrewError(
        "BAD_CHANGE",
        `Node "${id}" ${why}, so its dependencies cannot change.`,
        "Add a new node that depends on it instead.",
      );
    }
    const missing = needsOf(after).find((need) => !all.entries.has(need) && !fresh.has(need));
    if (missing !== undefined) {
      throw new CrewError(
        "BAD_CHANGE",
        `Node "${id}" would need "${missing}", which is not a node.`,
        suggestion(missing, [...all.entries.keys(), ...added], "Known nodes"),
      );
    }
    if (after.kind === "join" && (after.needs.length === 0 || (after.count ?? 1) > after.needs.length)) {
      throw new CrewError(
        "BAD_CHANGE",
        `Node "${id}" would be left with ${after.needs.length} nodes to join, which is too few.`,
        `Cancel fewer of the nodes that "${id}" waits for.`,
      );
    }
  }
}

function checkGivenUp(all: Schedule, given: readonly string[]): void {
  for (const id of given) {
    const entry = all.entries.get(id);
    if (!entry)
      throw new CrewError(
        "BAD_CHANGE",
        `The node "${id}" cannot be cancelled: the plan has no such node.`,
        suggestion(id, [...all.entries.keys()], "Known nodes"),
      );
    if (entry.state === "settled")
      throw new CrewError(
        "BAD_CHANGE",
        `Node "${id}" has already ended.`,
        "Only a waiting or running node can be cancelled.",
      );
  }
}

function checkCycle(all: Schedule, wiring: ReadonlyMap<string, readonly string[]>): void {
  const needs = (id: string): readonly string[] => wiring.get(id) ?? all.entries.get(id)?.needs ?? [];
  const done = new Set<string>();
  for (const start of wiring.keys()) {
    const path = new Set<string>();
    const stack: [string, number][] = [[start, 0]];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const [id, next] = top;
      if (next === 0) path.add(id);
      const need = needs(id)[next];
      if (need === undefined) {
        done.add(id);
        path.delete(id);
        stack.pop();
        continue;
      }
      top[1] += 1;
      if (path.has(need)) {
        const walked = [...path];
        const cycle = [...walked.slice(walked.indexOf(need)), need].join(" -> ");
        throw new CrewError(
          "BAD_CHANGE",
          `The change would make a cycle: ${cycle}.`,
          "Leave out one of these dependencies.",
        );
      }
      if (!done.has(need)) stack.push([need, 0]);
    }
  }
}

function checkWanted(all: Schedule, added: readonly string[], wiring: ReadonlyMap<string, readonly string[]>): void {
  const used = new Set([...wiring.values()].flat());
  const loose = added.find((id) => !used.has(id) && !all.roots.has(id));
  if (loose === undefined) return;
  throw new CrewError(
    "BAD_CHANGE",
    `Nothing would use the new node "${loose}".`,
    "Name a join in `into`, or let a waiting node depend on the new node.",
  );
}

/** Replaces the dependencies of a waiting node; returns the removed dependencies. */
function rewire(all: Schedule, entry: ScheduleEntry, needs: readonly string[]): ScheduleEntry[] {
  const before = entry.needs.map((id) => all.entries.get(id)!);
  for (const need of before) {
    need.dependents = need.dependents.filter((id) => id !== entry.id);
    need.wanted -= 1;
  }
  entry.open = 0;
  entry.good = 0;
  linkEntry(all.entries, entry, needs);
  return before;
}

/** Decides again about a waiting node whose dependencies changed. */
function review(all: Schedule, entry: ScheduleEntry): Step {
  const step: Step = { start: [], settled: [], cancel: [] };
  if (entry.state !== "waiting") return step;
  const outcome = entry.node.kind === "join" ? joinOutcome(entry, all.entries) : skippedBy(all, entry);
  if (outcome) return settle(all, entry.id, outcome);
  release(entry, step);
  return step;
}

function skippedBy(all: Schedule, entry: ScheduleEntry): Outcome | undefined {
  for (const id of entry.needs) {
    const outcome = all.entries.get(id)?.outcome;
    if (outcome && outcome.status !== "ok")
      return { status: "skipped", because: outcome.status === "skipped" ? outcome.because : id };
  }
  return undefined;
}
