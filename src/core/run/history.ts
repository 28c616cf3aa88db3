import type { Outcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import { isBelow } from "../plan/graph.ts";
import type { Change } from "../schedule/change.ts";
import type { KeptEvent } from "./event.ts";
import { withoutOldStops } from "./older-events.ts";

/** What an earlier life of a run left behind, ready to be looked up by path. */
export type History = Readonly<{
  /** What was carried out or changed directly below a prefix, in order. */
  under(prefix: string): readonly ReplayedStep[];
  /** How far the tries of a task came. */
  attempts(path: string): Attempts;
  answer(path: string): Answer | undefined;
  /** What was recorded of the attempt that was under way, in order. */
  events(path: string): readonly KeptEvent[];
  /** How a node ended, unless it began again after that. */
  ended(path: string): Outcome | undefined;
  /** What a node was last begun with. */
  started(path: string): NodeStarted | undefined;
  /** The plans that a task had started in the try that is not over. */
  delegated(path: string): readonly ChildPlan[];
  /** Notes that a node ends now; gives what was begun below it and never taken up again, the deepest first. */
  close(path: string): readonly string[];
}>;

export type ReplayedStep =
  | Readonly<{ type: "ended"; id: string; outcome: Outcome }>
  | Readonly<{ type: "changed"; change: Change }>;
export type NodeStarted = Extract<KeptEvent, { type: "node.started" }>;

/** The number of the next attempt, how many tries of the retry rule are used up, and whether the next one is in the journal already. */
export type Attempts = Readonly<{ next: number; used: number; underWay: boolean }>;

/** A plan below a task: where it is, and what had begun in it, by id. */
export type ChildPlan = Readonly<{
  prefix: string;
  number: number;
  spent: boolean;
  started: ReadonlyMap<string, NodeStarted>;
}>;

/** Whether what failed is done again: all of it, or the tasks at some paths. */
export type RetryFailed = boolean | ((path: string) => boolean);

/** A run without a past. */
export const noHistory: History = {
  under: () => [],
  attempts: () => FIRST,
  answer: () => undefined,
  events: () => [],
  ended: () => undefined,
  started: () => undefined,
  delegated: () => [],
  close: () => [],
};

const FIRST: Attempts = { next: 1, used: 0, underWay: false };

/**
 * The history in a journal. Only what was carried out counts: joins, skips and cancellations follow from it and are
 * decided again, so that a run that was cancelled goes on where it stopped.
 */
export function historyOf(
  events: readonly KeptEvent[],
  { retryFailed = false }: { retryFailed?: RetryFailed } = {},
): History {
  const retries = typeof retryFailed === "function" ? retryFailed : () => retryFailed;
  const under = new Map<string, Map<string, ReplayedStep>>();
  const attempts = new Map<string, Attempts>();
  const answers = new Map<string, Answer>();
  const started = new Map<string, NodeStarted>();
  const ended = new Map<string, Outcome>();
  const underWay = new Map<string, KeptEvent[]>();
  const delegated = new Map<string, Map<string, Growing>>();

  const begin = (event: NodeStarted): void => {
    const { path, attempt, kind } = event;
    const before = attempts.get(path);
    started.set(path, event);
    ended.delete(path);
    attempts.set(path, { next: attempt, used: before?.used ?? 0, underWay: true });
    // An attempt that was interrupted begins once more under its number: what it had done before still counts.
    if (!before?.underWay || before.next !== attempt) underWay.set(path, []);
    if (kind !== "task") answers.delete(path);
    const { prefix, id } = split(path);
    const owner = ownerOf(prefix, started);
    if (owner === undefined) return;
    const plans = entry(delegated, owner.path, () => new Map<string, Growing>());
    entry(plans, prefix, () => ({ prefix, number: owner.number, spent: false, started: new Map() })).started.set(
      id,
      event,
    );
  };
  const retried = (path: string, attempt: number): void => {
    attempts.set(path, { next: attempt + 1, used: (attempts.get(path)?.used ?? 0) + 1, underWay: false });
    // The next try asks anew, so what this one was told is of no use to it.
    for (const plan of delegated.get(path)?.values() ?? []) plan.spent = true;
  };
  const end = (path: string, outcome: Outcome): void => {
    const { prefix, id } = split(path);
    const kind = started.get(path)?.kind;
    const past = attempts.get(path);
    ended.set(path, outcome);
    if (past)
      attempts.set(path, {
        next: past.underWay ? past.next + 1 : past.next,
        used: outcome.status === "failed" ? 0 : past.used,
        underWay: false,
      });
    const known = entry(under, prefix, () => new Map<string, ReplayedStep>());
    known.delete(id);
    // A node may be given up before it began, when it only waited for its slot.
    const givenUp = outcome.status === "failed" ? outcome.fault.code === "MARKED_FAILED" : isCancelledForGood(outcome);
    const carriedOut = kind !== undefined || givenUp;
    if (carriedOut && counts(outcome, retries(path))) known.set(id, { type: "ended", id, outcome });
    else answers.delete(path);
  };

  for (const event of withoutOldStops(events)) {
    if (event.type === "node.started") begin(event);
    underWay.get(event.path)?.push(event);
    if (event.type === "node.retried") retried(event.path, event.attempt);
    if (event.type === "gate.answered") answers.set(event.path, event.answer);
    if (event.type === "plan.changed")
      entry(under, "", () => new Map<string, ReplayedStep>()).set(`change ${event.seq}`, {
        type: "changed",
        change: event.change,
      });
    if (event.type === "node.ended") end(event.path, event.outcome);
  }
  return {
    under: (prefix) => [...(under.get(prefix)?.values() ?? [])],
    attempts: (path) => attempts.get(path) ?? FIRST,
    answer: (path) => answers.get(path),
    events: (path) => underWay.get(path) ?? [],
    ended: (path) => ended.get(path),
    started: (path) => started.get(path),
    delegated: (path) => [...(delegated.get(path)?.values() ?? [])],
    close: closing(new Set([...started.keys()].filter((path) => path.includes("/") && !ended.has(path)))),
  };
}

/** Whether a journal tells of a run to its end. With `retryFailed`, one that failed goes on. */
export function hasEnded(events: readonly KeptEvent[], { retryFailed }: { retryFailed: boolean }): boolean {
  const last = withoutOldStops(events).at(-1);
  return last?.type === "run.ended" && !(retryFailed && last.outcome.status === "failed");
}

/** A history of which the part at and below a path can be told anew, for a task that goes on in the same life of its run. */
export function renewable(first: History): History & Readonly<{ renew(path: string, history: History): void }> {
  const renewed: { readonly path: string; readonly history: History }[] = [];
  const at = (path: string): History => {
    if (renewed.length === 0) return first;
    return renewed.findLast((each) => path === each.path || isBelow(path, each.path))?.history ?? first;
  };
  return {
    under: (prefix) => at(prefix).under(prefix),
    attempts: (path) => at(path).attempts(path),
    answer: (path) => at(path).answer(path),
    events: (path) => at(path).events(path),
    ended: (path) => at(path).ended(path),
    started: (path) => at(path).started(path),
    delegated: (path) => at(path).delegated(path),
    close: (path) => at(path).close(path),
    renew: (path, history) => void renewed.push({ path, history }),
  };
}

/**
 * Whatever goes on in this life has ended before what is above it, so that only what was left behind is still open then.
 * Of what was under way, only that which has something above it is of interest.
 */
function closing(open: Set<string>): History["close"] {
  return (path) => {
    open.delete(path);
    if (open.size === 0) return [];
    const below = [...open].filter((other) => isBelow(other, path));
    for (const left of below) open.delete(left);
    return below.toSorted((a, b) => b.split("/").length - a.split("/").length);
  };
}

type Growing = { prefix: string; number: number; spent: boolean; started: Map<string, NodeStarted> };

function counts(outcome: Outcome, retryFailed: boolean): boolean {
  return outcome.status === "ok" || (outcome.status === "failed" && !retryFailed) || isCancelledForGood(outcome);
}

/** True for a task that somebody cancelled by name: it stays cancelled when the run is resumed. */
export const isCancelledForGood = (outcome: Outcome): boolean =>
  outcome.status === "cancelled" && outcome.final === true;

function split(path: string): { prefix: string; id: string } {
  const cut = path.lastIndexOf("/") + 1;
  return { prefix: path.slice(0, cut), id: path.slice(cut) };
}

/** The task whose delegation has this prefix, and which one it was; the rounds of a loop have no such owner. */
function ownerOf(
  prefix: string,
  started: ReadonlyMap<string, NodeStarted>,
): { path: string; number: number } | undefined {
  const whole = prefix.slice(0, -1);
  const numbered = /^(.+)\.(\d+)$/.exec(whole);
  const owner =
    started.has(whole) || !numbered ? { path: whole, number: 1 } : { path: numbered[1]!, number: Number(numbered[2]) };
  return started.get(owner.path)?.kind === "task" ? owner : undefined;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
