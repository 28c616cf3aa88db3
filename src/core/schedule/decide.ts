import type { Outcome } from "../outcome/outcome.ts";
import { gathered, joinOutcome } from "./join.ts";
import type { Schedule, ScheduleEntry, Step } from "./schedule.ts";

/** What may start before anything is known. */
export function begin(all: Schedule): Step {
  const step = nothing();
  for (const entry of all.entries.values()) release(entry, step);
  return step;
}

/** One node has ended: who may start, who never will, and who is no longer needed. */
export function settle(all: Schedule, id: string, outcome: Outcome): Step {
  const step = nothing();
  const entry = all.entries.get(id)!;
  const ended: [ScheduleEntry, Outcome][] = [[entry, entry.givenUp ?? outcome]];
  for (let next = ended.pop(); next !== undefined; next = ended.pop()) end(all, next[0], next[1], step, ended);
  return step;
}

/** Everything that has not ended is over: what waits is cancelled now, what runs is to be stopped. */
export function cancelAll(all: Schedule, reason: string): Step {
  const step = nothing();
  for (const entry of all.entries.values()) {
    if (entry.state === "running") step.cancel.push(entry.id);
    if (entry.state === "waiting")
      record(all, entry, { status: "cancelled", reason, ...gathered(entry, all.entries) }, step);
  }
  return step;
}

/** Starts a waiting node that has all it needs. A join never starts: it settles as its needs do. */
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
  record(all, entry, outcome, step);
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
  for (const id of entry.dependents) {
    const dependent = all.entries.get(id)!;
    if (dependent.state === "settled") continue;
    dependent.open -= 1;
    if (outcome.status === "ok") dependent.good += 1;
    const consequence = consequenceOf(all, dependent, entry.id, outcome);
    if (consequence) ended.push([dependent, consequence]);
    else release(dependent, step);
  }
}

/** What one ended need means for a node that waits: it settles at once, or goes on waiting. */
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

/** The reason of a node that was stopped because nothing waits for it any more. */
export const NOT_NEEDED = "no longer needed";
