import type { Outcome } from "../outcome/outcome.ts";
import type { Schedule, ScheduleEntry, Step } from "./schedule.ts";
import { release } from "./decide.ts";

/**
 * Lets a failed node of a running plan start again, together with the nodes that were skipped or cancelled because of
 * it. A node that was also skipped because of another failure stays skipped. Returns a reason instead of a step when
 * nothing would use the result.
 */
export function reopen(all: Schedule, id: string): Step | string {
  const failed = all.entries.get(id);
  if (failed?.outcome?.status !== "failed") return `"${id}" has not failed.`;
  const following = dependentsOf(all, failed);
  const isUsed = failed.dependents.some((other) => {
    const entry = all.entries.get(other)!;
    return following.has(entry) || entry.state === "waiting";
  });
  if (!isUsed && !all.roots.has(id)) return `The result of "${id}" is no longer needed.`;
  const again = new Set([failed, ...possible(all, failed, following)]);
  for (const entry of again)
    for (const need of entry === failed ? [] : needsIn(all, entry)) {
      if (need.moot && need.state === "running") return `"${need.id}" is still being stopped. Try again in a moment.`;
      if (wasFreed(need)) again.add(need);
    }
  for (const entry of again) reset(all, entry);
  for (const entry of again) recount(all, entry, again);
  const step: Step = { start: [], settled: [], cancel: [] };
  for (const entry of again) release(entry, step);
  return step;
}

const needsIn = (all: Schedule, { needs }: ScheduleEntry): ScheduleEntry[] =>
  needs.map((need) => all.entries.get(need)!);

/** The nodes that ended without success and that depend on the failed node, directly or indirectly. */
function dependentsOf(all: Schedule, failed: ScheduleEntry): Set<ScheduleEntry> {
  const found = new Set([failed]);
  for (const { dependents } of found)
    for (const other of dependents.map((dependent) => all.entries.get(dependent)!))
      if (other.outcome && other.outcome.status !== "ok" && !isDismissed(other.outcome)) found.add(other);
  found.delete(failed);
  return found;
}

/** Whether a node was cancelled because the only node that needed it was skipped, so that its result had no use. */
const wasFreed = ({ outcome }: ScheduleEntry): boolean => outcome?.status === "cancelled" && !isDismissed(outcome);

/** The nodes that can start again, because no other node than the failed node blocked them. */
function possible(all: Schedule, failed: ScheduleEntry, nodes: ReadonlySet<ScheduleEntry>): Set<ScheduleEntry> {
  const left = new Set(nodes);
  const isMet = (need: ScheduleEntry): boolean =>
    need === failed || left.has(need) || need.state !== "settled" || need.outcome?.status === "ok" || wasFreed(need);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const entry of left) if (entry.node.kind !== "join" && !needsIn(all, entry).every(isMet)) left.delete(entry);
  }
  return left;
}

/** True for a node that was cancelled by name, or marked as failed by a change of the plan. */
function isDismissed(outcome: Outcome): boolean {
  if (outcome.status === "cancelled") return outcome.final === true;
  return outcome.status === "failed" && outcome.fault.code === "MARKED_FAILED";
}

function reset(all: Schedule, entry: ScheduleEntry): void {
  entry.state = "waiting";
  entry.outcome = undefined;
  entry.rank = -1;
  entry.moot = false;
  entry.givenUp = undefined;
  entry.decided = undefined;
  all.unsettled += 1;
  for (const need of entry.needs) all.entries.get(need)!.wanted += 1;
}

function recount(all: Schedule, entry: ScheduleEntry, again: ReadonlySet<ScheduleEntry>): void {
  const needs = entry.needs.map((need) => all.entries.get(need)!);
  entry.open = needs.filter(({ state }) => state !== "settled").length;
  entry.good = needs.filter(({ outcome }) => outcome?.status === "ok").length;
  for (const dependent of entry.dependents) {
    const other = all.entries.get(dependent)!;
    if (!again.has(other) && other.state === "waiting") other.open += 1;
  }
}
