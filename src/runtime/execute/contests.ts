import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Worktree } from "../../core/plan/isolation.ts";
import type { Node } from "../../core/plan/plan.ts";
import { contendersOf } from "../../core/schedule/contest.ts";
import type { Schedule } from "../../core/schedule/schedule.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { pauseReason } from "../async/cancel.ts";
import { deferred } from "../async/deferred.ts";
import { createAskPerson } from "./ask-person.ts";
import type { Claims } from "./claims.ts";
import type { NodeContext, PlanScope } from "./scope.ts";

/**
 * Keeps the file changes for a contender (a competing node of a race) separate until that contender has won. These are
 * the changes of the contender, of the tasks before it in its chain, of the members of a group, of the rounds of a
 * loop, and of isolated subagents. The changes are collected in a worktree of the contender; all tasks of the contender
 * work in it if one of them is isolated.
 */
export type Contests = Readonly<{
  /**
   * Runs a node. A contender (competing node of a race) ends once its changes are applied, or kept as a patch because
   * it has lost.
   */
  run(id: string, context: NodeContext, work: (context: NodeContext) => Promise<Outcome>): Promise<Outcome>;
  /** To be called when a node has ended: a contender that never started releases its worktree. */
  settled(id: string, outcome: Outcome): void;
  /** Finds the races of the plan again; to be called after each change of the plan. */
  changed(): void;
  /** Resolves when no worktree is in use. */
  over(): Promise<void>;
}>;

/** The changes for one contender (competing node of a race), collected until the race is decided. */
type Contest = {
  readonly contender: string;
  /** True: all tasks of the contender work in its worktree. False: only isolated subagents add their changes to it. */
  readonly isShared: boolean;
  /** True: the contender is one isolated task, whose own worktree contains all its changes. */
  readonly isAlone: boolean;
  readonly members: readonly string[];
  /** How many nodes work for the contender now, not counting itself. */
  working: number;
  idle?: () => void;
  opened?: Promise<Worktree | Outcome>;
  /** Releases the worktree; returns the outcome of the contender (a competing task of a race) with its changes. */
  finish?: (outcome: Outcome) => Promise<Outcome>;
};

export function createContests(all: Schedule, scope: PlanScope, claims: Claims): Contests {
  const { run, prefix } = scope;
  const { worktrees } = run;
  const contests = new Map<string, Contest>();
  const closing = new Set<Promise<unknown>>();
  /**
   * True when the plan contains a join, so that it may contain a race. Most plans contain no join, and need not be
   * searched for contenders (competing nodes).
   */
  let hasJoin = false;

  /** The contests (collected changes of contenders) that a node is part of, the innermost first. */
  const around = (id: string): Contest[] => {
    if (!hasJoin) return [];
    return contendersOf(all, id).map((contender) => {
      const contest = contests.get(contender) ?? begin(contender);
      contests.set(contender, contest);
      return contest;
    });
  };
  const begin = (contender: string): Contest => {
    const members = [...all.entries.keys()].filter((id) => contendersOf(all, id).includes(contender));
    const isolated = members.some((id) => isIsolated(all.entries.get(id)!.node, scope));
    const isAlone = isolated && members.length === 1 && all.entries.get(contender)!.node.kind === "task";
    return { contender, members, isAlone, isShared: isolated && !isAlone, working: 0 };
  };
  /** True when an earlier process of this run collected changes for a contender. */
  const isBegun = ({ members, isShared }: Contest): boolean =>
    members.some((id) => (isShared ? hasWorked(run.history, prefix + id) : hasGathered(run.history, prefix + id)));

  const open = (contest: Contest, outer: readonly Contest[]): Promise<Worktree | Outcome> =>
    (contest.opened ??= openWorktree(contest, outer));
  const openWorktree = async (contest: Contest, outer: readonly Contest[]): Promise<Worktree | Outcome> => {
    const above = await scopeIn(outer);
    if ("status" in above) return above;
    const base = above.gather ? await above.gather() : above.worktree;
    if (base && "status" in base) return base;
    const path = prefix + contest.contender;
    const { signal, depth, policy } = scope;
    const begun = isBegun(contest);
    const opened = deferred<Worktree | Outcome>();
    const worked = deferred<Outcome>();
    const ended = worktrees!
      .run(
        {
          call: {
            run: run.id,
            path,
            attempt: 0,
            task: { prompt: path },
            attachments: [],
            context: "",
            depth,
            ...defined({ worktree: base, policy }),
          },
          dirty: true,
          isBegun: begun,
          hasWorked: begun && run.history.ended(path) === undefined,
          context: {
            ...createAskPerson({ path, scope }),
            claim: () => claims.claim(contest.contender, signal),
            emit: (fact) => run.emit(path, fact),
            signal,
          },
        },
        (worktree) => {
          opened.resolve(worktree);
          return worked.promise;
        },
      )
      .catch((error: unknown) => failed("CRASHED", messageOf(error)));
    void ended.then(opened.resolve);
    const join = all.entries.get(contest.contender);
    if (join?.node.kind === "join") join.works = true;
    contest.finish = (outcome) => {
      worked.resolve(outcome);
      return ended;
    };
    return opened.promise;
  };
  /** The scope for a node that is part of these contests. */
  const scopeIn = async ([contest, ...outer]: readonly Contest[]): Promise<PlanScope | Outcome> => {
    if (!contest) return scope;
    const above = await scopeIn(outer);
    if ("status" in above || contest.isAlone) return above;
    if (!contest.isShared) return { ...above, gather: () => open(contest, outer) };
    const worktree = await open(contest, outer);
    if ("status" in worktree) return worktree;
    const { gather: _gather, ...rest } = above;
    return { ...rest, worktree };
  };
  /** Ends the collection of one contender's changes, and records the contender's outcome. */
  const close = async (contest: Contest, outer: readonly Contest[], outcome: Outcome): Promise<Outcome> => {
    contests.delete(contest.contender); // a contender that is retried starts a new contest
    const opened = await open(contest, outer);
    if ("status" in opened) return outcome.status === "ok" ? opened : outcome;
    if (contest.working > 0) await new Promise<void>((resolve) => (contest.idle = resolve)); // the other tasks of the contender are being stopped
    return contest.finish!(outcome);
  };
  const closed = (contest: Contest, outer: readonly Contest[], outcome: Outcome): Promise<Outcome> => {
    const work = close(contest, outer, outcome);
    closing.add(work);
    return work.finally(() => closing.delete(work));
  };
  const isUsed = (contest: Contest): boolean => !contest.isAlone && (contest.opened !== undefined || isBegun(contest));

  /**
   * Finds the races of the plan again. A join (node that collects results) with collected changes applies them when it
   * succeeds.
   */
  const changed = (): void => {
    const joins = [...all.entries.values()].filter(({ node }) => node.kind === "join");
    hasJoin = worktrees !== undefined && joins.some(({ node }) => node.kind === "join" && node.pick === "first");
    for (const join of joins) {
      const [contest] = around(join.id);
      join.works = contest?.contender === join.id && (contest.isShared || isBegun(contest));
    }
  };
  changed();

  const runIn = async (
    [contest, ...outer]: readonly [Contest, ...Contest[]],
    id: string,
    context: NodeContext,
    work: (context: NodeContext) => Promise<Outcome>,
  ): Promise<Outcome> => {
    const isContender = contest.contender === id;
    const others = isContender ? outer : [contest, ...outer];
    for (const other of others) other.working += 1;
    let outcome: Outcome;
    try {
      const own = await scopeIn([contest, ...outer]);
      if ("status" in own) outcome = own;
      else outcome = await work({ ...context, scope: own, ...(!contest.isAlone && { claim: always }) });
    } finally {
      for (const other of others) {
        other.working -= 1;
        if (other.working === 0) other.idle?.();
      }
    }
    if (!isContender || !isUsed(contest) || pauseReason(context.signal) !== undefined) return outcome;
    return closed(contest, outer, outcome);
  };

  return {
    run: (id, context, work) => {
      const [contest, ...outer] = around(id);
      return contest ? runIn([contest, ...outer], id, context, work) : work(context);
    },
    changed,
    settled: (id, outcome) => {
      const contest = contests.get(id);
      if (!contest || !isUsed(contest)) return;
      const [, ...outer] = around(id);
      void closed(contest, outer, outcome);
    },
    over: async () => {
      while (closing.size > 0) await Promise.allSettled(closing);
    },
  };
}

const always = (): Promise<boolean> => Promise.resolve(true);

/** True for a task in a worktree of its own, and for a loop with such a task. */
function isIsolated(node: Node, scope: PlanScope): boolean {
  if (node.kind === "loop") return Object.values(node.body.nodes).some((inner) => isIsolated(inner, scope));
  return node.kind === "task" && scope.run.worktrees?.isolationOf(node.task, scope.depth) !== undefined;
}

type Past = PlanScope["run"]["history"];

/** True when a node, or a round of it, used tools or ended before the run was resumed. */
function hasWorked(history: Past, path: string): boolean {
  if (history.ended(path)?.status === "ok" || history.under(`${path}.1/`).length > 0) return true;
  return history.events(path).some(({ type }) => type === "tool.started");
}

/**
 * True when, before the run was resumed, a helper that the node started, directly or through other helpers, applied its
 * changes. They are part of the changes that are collected for a race.
 */
function hasGathered(history: Past, path: string): boolean {
  return history.delegated(path).some(({ prefix, started }) => {
    const applied = history
      .under(prefix)
      .some((step) => step.type === "ended" && step.outcome.changes?.applied === true);
    return applied || [...started.keys()].some((id) => hasGathered(history, prefix + id));
  });
}
