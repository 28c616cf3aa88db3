import type { Outcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import { deepestFirst, isBelow } from "../plan/graph.ts";
import type { Change } from "../schedule/change.ts";
import type { KeptEvent } from "./event.ts";

/** The contents of a run's journal before a resume, by task path. */
export type History = Readonly<{
  /** Outcomes and plan changes of the nodes directly below a path prefix, in order. */
  under(prefix: string): readonly ReplayedStep[];
  /** The attempts of a task so far. */
  attempts(path: string): Attempts;
  answer(path: string): Answer | undefined;
  /** The events of a task's attempt that was interrupted, in order. */
  events(path: string): readonly KeptEvent[];
  /** The outcome of a node, unless the node started again afterwards. */
  ended(path: string): Outcome | undefined;
  /** The last start event of a node. */
  started(path: string): NodeStarted | undefined;
  /** Plans that a task had started in its current attempt. */
  delegated(path: string): readonly ChildPlan[];
  /**
   * Marks a node as ended; returns the nodes below it that started before the crash and were not resumed, deepest
   * first.
   */
  close(path: string): readonly string[];
}>;

export type ReplayedStep =
  | Readonly<{ type: "ended"; id: string; outcome: Outcome }>
  | Readonly<{ type: "changed"; change: Change }>;
export type NodeStarted = Extract<KeptEvent, { type: "node.started" }>;

/**
 * The number of the next attempt, how many tries that the retry setting allows are used up, and whether the journal
 * already contains the start of the next attempt.
 */
export type Attempts = Readonly<{ next: number; used: number; underWay: boolean }>;

/** A plan below a task: its path prefix, and which of its nodes had started, by id. */
export type ChildPlan = Readonly<{
  prefix: string;
  number: number;
  spent: boolean;
  started: ReadonlyMap<string, NodeStarted>;
}>;

/** The failed tasks that are run again: all of them, or the tasks at the given paths. */
export type RetryFailed = boolean | ((path: string) => boolean);

/** The history of a new run, in which nothing has happened yet. */
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
 * Builds the history from a journal. Only the outcomes of nodes that did work are used. Joins, skips and cancellations
 * are decided again, so that a cancelled run continues where it stopped.
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

  /**
   * Removes the failure mark from a node that a change of the plan had marked as failed, because the node was started
   * again later.
   */
  const unmark = (path: string): void => {
    for (const [key, step] of path.includes("/") ? [] : (under.get("") ?? [])) {
      if (step.type !== "changed" || !Object.hasOwn(step.change.markFailed ?? {}, path)) continue;
      const { [path]: _, ...markFailed } = step.change.markFailed!;
      under.get("")!.set(key, { type: "changed", change: { ...step.change, markFailed } });
    }
  };
  const begin = (event: NodeStarted): void => {
    const { path, attempt, kind } = event;
    if (isMarked(ended.get(path))) unmark(path);
    const before = attempts.get(path);
    const { prefix, id } = split(path);
    started.set(path, event);
    ended.delete(path);
    under.get(prefix)?.delete(id); // a node that started again has no outcome until it ends
    attempts.set(path, { next: attempt, used: before?.used ?? 0, underWay: true });
    // An interrupted attempt starts again with the same number and keeps its events.
    if (!before?.underWay || before.next !== attempt) underWay.set(path, []);
    if (kind !== "task") answers.delete(path);
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
    // The next attempt starts its subagents again, so results of this one are not reused.
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
    // A node may be cancelled before it started, while it waited for a slot.
    const givenUp = isMarked(outcome) || isCancelledForGood(outcome);
    if (isMarked(outcome) && retries(path)) unmark(path);
    const carriedOut = kind !== undefined || givenUp;
    if (carriedOut && counts(outcome, retries(path))) known.set(id, { type: "ended", id, outcome });
    else answers.delete(path);
  };

  for (const event of events) {
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

/** True for a complete journal: its run has ended. With `retryFailed`, a failed run does not count as ended. */
export function hasEnded(events: readonly KeptEvent[], { retryFailed }: { retryFailed: boolean }): boolean {
  const last = events.at(-1);
  return last?.type === "run.ended" && !(retryFailed && last.outcome.status === "failed");
}

/**
 * A history in which the part at and below a path can be replaced, for a task that is resumed while its run is still
 * executed.
 */
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
    close: (path) => {
      const open = at(path).close(path);
      for (const { history } of renewed) history.close(path);
      if (renewed.length > 0) first.close(path); // otherwise the end of a parent node would mark this node as abandoned
      return open;
    },
    renew: (path, history) => void renewed.push({ path, history }),
  };
}

/**
 * Creates the function that marks a node as ended and returns the nodes below it that are still open. Nodes that
 * continue in this process end before their parents, so a node that is open when its parent ends was abandoned. Only
 * nodes with a parent are tracked.
 */
function closing(open: Set<string>): History["close"] {
  return (path) => {
    open.delete(path);
    if (open.size === 0) return [];
    const below = [...open].filter((other) => isBelow(other, path));
    for (const left of below) open.delete(left);
    return deepestFirst(below);
  };
}

type Growing = { prefix: string; number: number; spent: boolean; started: Map<string, NodeStarted> };

function counts(outcome: Outcome, retryFailed: boolean): boolean {
  return outcome.status === "ok" || (outcome.status === "failed" && !retryFailed) || isCancelledForGood(outcome);
}

/** True for a task that was cancelled by name: it stays cancelled after a resume. */
export const isCancelledForGood = (outcome: Outcome): boolean =>
  outcome.status === "cancelled" && outcome.final === true;

/** True for a task that a change of the plan marked as failed. */
const isMarked = (outcome: Outcome | undefined): boolean =>
  outcome?.status === "failed" && outcome.fault.code === "MARKED_FAILED";

function split(path: string): { prefix: string; id: string } {
  const cut = path.lastIndexOf("/") + 1;
  return { prefix: path.slice(0, cut), id: path.slice(cut) };
}

/**
 * The task that started the plan with this path prefix, and the number of the plan among the plans of that task;
 * `undefined` for the rounds of a loop.
 */
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
