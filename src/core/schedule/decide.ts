import type { Outcome } from "../outcome/outcome.ts";
import { gathered, joinOutcome } from "./join.ts";
import type { Schedule, ScheduleEntry, Step } from "./schedule.ts";

/** The step with which a plan begins: the nodes that start first. */
export function begin(all: Schedule): Step {
  const step = nothing();
  for (const entry of all.entries.values()) release(entry, step);
  return step;
}

/** Decides after a node has ended: which nodes start, are skipped, or are no longer needed. */
export function settle(all: Schedule, id: string, outcome: Outcome): Step {
  const step = nothing();
  const entry = all.entries.get(id)!;
  const ended: [ScheduleEntry, Outcome][] = [[entry, entry.givenUp ?? outcome]];
  for (let next = ended.pop(); next !== undefined; next = ended.pop()) end(all, next[0], next[1], step, ended);
  return step;
}

/** Cancels the plan: waiting nodes are cancelled now, running nodes are stopped. */
export function cancelAll(all: Schedule, reason: string): Step {
  const step = nothing();
  for (const entry of all.entries.values()) {
    if (entry.state === "running") step.cancel.push(entry.id);
    if (entry.state === "waiting")
      record(all, entry, { status: "cancelled", reason, ...gathered(entry, all.entries) }, step);
  }
  return step;
}

/**
 * Starts a ready node. A join (a node that collects outputs) never starts: its outcome follows from the outcomes of its
 * dependencies.
 */
export function release(entry: ScheduleEntry, step: Step): void {
  if (entry.state !== "waiting" || entry.open > 0 || entry.node.kind === "join") return;
  entry.state = "running";
  step.start.push(entry.id);
}

const nothing = (): Step => ({ start: [], settled: [], cancel: [] });

function end(
  all: Schedule,
  entry: ScheduleEntry,
  outcome: Outcome,
  step: Step,
  ended: [ScheduleEntry, Outcome][],
): void {
  if (entry.state === "settled") return;
  const begins = entry.works && entry.state === "waiting" && outcome.status === "ok";
  if (entry.decided === undefined) freeNeeds(all, entry, step, ended);
  if (begins) {
    entry.state = "running";
    entry.decided = outcome;
    step.start.push(entry.id);
    return;
  }
  record(all, entry, outcome, step);
  for (const id of entry.dependents) {
    const dependent = all.entries.get(id)!;
    if (dependent.state === "settled" || dependent.decided) continue;
    dependent.open -= 1;
    if (outcome.status === "ok") dependent.good += 1;
    const consequence = consequenceOf(all, dependent, entry.id, outcome);
    if (consequence) ended.push([dependent, consequence]);
    else release(dependent, step);
  }
}

/** Cancels those dependencies of a node that no other unfinished node needs. */
function freeNeeds(all: Schedule, entry: ScheduleEntry, step: Step, ended: [ScheduleEntry, Outcome][]): void {
  for (const id of entry.needs) {
    const need = all.entries.get(id)!;
    need.wanted -= 1;
    if (need.wanted > 0 || need.state === "settled") continue;
    if (need.state === "waiting") ended.push([need, { status: "cancelled", reason: NOT_NEEDED }]);
    else if (!need.moot) {
      need.moot = true;
      step.cancel.push(id);
    }
  }
}

/** Decides what happens to a waiting node when one of its dependencies has ended. */
function consequenceOf(all: Schedule, entry: ScheduleEntry, id: string, outcome: Outcome): Outcome | undefined {
  if (entry.node.kind === "join") return joinOutcome(entry, all.entries);
  if (outcome.status === "ok") return undefined;
  return { status: "skipped", because: outcome.status === "skipped" ? outcome.because : id };
}

function record(all: Schedule, entry: ScheduleEntry, outcome: Outcome, step: Step): void {
  entry.state = "settled";
  entry.outcome = outcome;
  entry.rank = all.ended;
  all.ended += 1;
  all.unsettled -= 1;
  step.settled.push(entry.id);
}

/** The recorded reason for cancelling a node whose result no other node needs. */
export const NOT_NEEDED = "no longer needed";
