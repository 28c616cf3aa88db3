import { z } from "zod";
import { suggestion } from "./check.ts";
import { NOT_NEEDED, release, settle } from "./decide.ts";
import { CrewError } from "./error.ts";
import { needsOf } from "./graph.ts";
import { joined } from "./join.ts";
import { failed, type Outcome } from "./outcome.ts";
import { node, NODE_ID, type Node } from "./plan.ts";
import { connect, entryOf, type Entry, type Schedule, type Step } from "./schedule.ts";

/** How a plan grows while it runs: new nodes, other dependencies, nodes given up. */
export const change = z.strictObject({
  newTasks: z.record(z.string().regex(NODE_ID), node).optional().describe("nodes to add"),
  into: z.string().optional().describe("the join that gathers the new nodes; the plan's output by default"),
  updateDependencies: z.record(z.string(), z.array(z.string())).optional().describe("what a node that has not started needs from now on"),
  markFailed: z.record(z.string(), z.string()).optional().describe("nodes to give up, with the reason"),
});
export type Change = Readonly<{
  newTasks?: Readonly<Record<string, Node>> | undefined;
  into?: string | undefined;
  updateDependencies?: Readonly<Record<string, readonly string[]>> | undefined;
  markFailed?: Readonly<Record<string, string>> | undefined;
}>;

/** Applies a change whole or not at all: a fault in it throws before anything moved. */
export function applyChange(all: Schedule, asked: Change): Step {
  const { newTasks = {}, markFailed = {} } = asked;
  const wiring = wiringOf(all, asked);
  checkIds(all, Object.keys(newTasks), wiring, Object.keys(markFailed));
  checkCycle(all, wiring);
  checkWanted(all, Object.keys(newTasks), wiring);

  const step: Step = { start: [], settled: [], cancel: [] };
  const append = (more: Step): void => {
    step.start.push(...more.start);
    step.settled.push(...more.settled);
    step.cancel.push(...more.cancel);
  };
  for (const [id, added] of Object.entries(newTasks)) {
    all.entries.set(id, entryOf(id, added));
    all.unsettled += 1;
  }
  const dropped: Entry[] = [];
  for (const [id, needs] of wiring) dropped.push(...rewire(all, all.entries.get(id)!, needs));
  for (const id of wiring.keys()) append(review(all, all.entries.get(id)!));
  for (const entry of dropped) {
    if (entry.wanted > 0 || entry.state === "settled") continue;
    if (entry.state === "waiting") append(settle(all, entry.id, { status: "cancelled", reason: NOT_NEEDED }));
    else step.cancel.push(entry.id);
  }
  for (const [id, reason] of Object.entries(markFailed)) {
    if (all.entries.get(id)!.state === "running") step.cancel.push(id);
    append(settle(all, id, failed("MARKED_FAILED", reason)));
  }
  return step;
}

/** What every new or rewired node needs after the change. */
function wiringOf(all: Schedule, { newTasks = {}, into, updateDependencies = {} }: Change): Map<string, readonly string[]> {
  const wiring = new Map<string, readonly string[]>();
  for (const [id, added] of Object.entries(newTasks)) wiring.set(id, needsOf(added));
  for (const [id, needs] of Object.entries(updateDependencies)) wiring.set(id, [...new Set(needs)]);
  const gatherer = into ?? [...all.roots].find((root) => all.entries.get(root)?.node.kind === "join");
  if (gatherer !== undefined && Object.keys(newTasks).length > 0) {
    const before = wiring.get(gatherer) ?? all.entries.get(gatherer)?.needs ?? [];
    wiring.set(gatherer, [...new Set([...before, ...Object.keys(newTasks)])]);
  }
  return wiring;
}

function checkIds(all: Schedule, added: readonly string[], wiring: ReadonlyMap<string, readonly string[]>, given: readonly string[]): void {
  const known = [...all.entries.keys(), ...added];
  const exists = (id: string): boolean => all.entries.has(id) || added.includes(id);
  for (const id of added) {
    if (all.entries.has(id)) throw new CrewError("BAD_CHANGE", `The plan already has a node "${id}".`, "Give the new node another name.");
  }
  for (const [id, needs] of wiring) {
    if (!exists(id)) throw new CrewError("BAD_CHANGE", `There is no node "${id}" whose dependencies could change.`, suggestion(id, known, "Nodes are"));
    const state = all.entries.get(id)?.state ?? "waiting";
    if (state !== "waiting") {
      const why = state === "running" ? "has already started" : "has already ended";
      throw new CrewError("BAD_CHANGE", `Node "${id}" ${why}, so what it needs cannot change.`, "Add a new node that needs it instead.");
    }
    const missing = needs.find((need) => !exists(need));
    if (missing !== undefined) throw new CrewError("BAD_CHANGE", `Node "${id}" would need "${missing}", which is not a node.`, suggestion(missing, known, "Nodes are"));
  }
  for (const id of given) {
    const entry = all.entries.get(id);
    if (!entry) throw new CrewError("BAD_CHANGE", `There is no node "${id}" to give up.`, suggestion(id, known, "Nodes are"));
    if (entry.state === "settled") throw new CrewError("BAD_CHANGE", `Node "${id}" has already ended.`, "Only a node that waits or runs can be given up.");
  }
}

function checkCycle(all: Schedule, wiring: ReadonlyMap<string, readonly string[]>): void {
  const needs = (id: string): readonly string[] => wiring.get(id) ?? all.entries.get(id)?.needs ?? [];
  const done = new Set<string>();
  for (const start of wiring.keys()) {
    const path: string[] = [];
    const stack: [string, number][] = [[start, 0]];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const [id, next] = top;
      if (next === 0) path.push(id);
      const need = needs(id)[next];
      if (need === undefined) {
        done.add(id);
        path.pop();
        stack.pop();
        continue;
      }
      top[1] += 1;
      if (path.includes(need)) {
        const cycle = [...path.slice(path.indexOf(need)), need].join(" -> ");
        throw new CrewError("BAD_CHANGE", `The change would make a cycle: ${cycle}.`, "Leave out one of these dependencies.");
      }
      if (!done.has(need)) stack.push([need, 0]);
    }
  }
}

function checkWanted(all: Schedule, added: readonly string[], wiring: ReadonlyMap<string, readonly string[]>): void {
  const used = new Set([...wiring.values()].flat());
  const loose = added.find((id) => !used.has(id) && !all.roots.has(id));
  if (loose === undefined) return;
  throw new CrewError("BAD_CHANGE", `Nothing would use the new node "${loose}".`, "Name a join in `into`, or let a waiting node need it.");
}

/** Gives a waiting node other needs; returns those that it let go. */
function rewire(all: Schedule, entry: Entry, needs: readonly string[]): Entry[] {
  const before = entry.needs.map((id) => all.entries.get(id)!);
  for (const need of before) {
    need.dependents.delete(entry.id);
    need.wanted -= 1;
  }
  entry.open = 0;
  entry.good = 0;
  connect(all.entries, entry, needs);
  return before;
}

/** A node whose needs changed may start now, settle now, or never run. */
function review(all: Schedule, entry: Entry): Step {
  const step: Step = { start: [], settled: [], cancel: [] };
  if (entry.state !== "waiting") return step;
  const outcome = entry.node.kind === "join" ? joined(entry, all.entries) : skippedBy(all, entry);
  if (outcome) return settle(all, entry.id, outcome);
  release(entry, step);
  return step;
}

function skippedBy(all: Schedule, entry: Entry): Outcome | undefined {
  for (const id of entry.needs) {
    const outcome = all.entries.get(id)?.outcome;
    if (outcome && outcome.status !== "ok") return { status: "skipped", because: outcome.status === "skipped" ? outcome.because : id };
  }
  return undefined;
}
