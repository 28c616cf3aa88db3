import type { Outcome } from "../../core/outcome/outcome.ts";
import { contendersOf } from "../../core/schedule/contest.ts";
import { pauseReason } from "../async/cancel.ts";
import { ContenderChanges, type RacePlan } from "./contender-changes.ts";
import type { NodeContext, PlanScope } from "./scope.ts";

/** The contests (collected changes of contenders) that a node is part of, the innermost first. */
type Around = readonly ContenderChanges[];

/**
 * Keeps the file changes for a contender (a competing node of a race) separate until that contender has won. These are
 * the changes of the contender, of the tasks before it in its chain, of the members of a group, of the rounds of a
 * loop, and of isolated subagents. The changes are collected in a worktree of the contender; all tasks of the contender
 * work in it if one of them is isolated.
 */
export class Contests {
  readonly #plan: RacePlan;
  readonly #contests = new Map<string, ContenderChanges>();
  readonly #closing = new Set<Promise<unknown>>();
  /**
   * True when the plan contains a join, so that it may contain a race. Most plans contain no join, and need not be
   * searched for contenders (competing nodes).
   */
  #hasJoin = false;

  constructor(plan: RacePlan) {
    this.#plan = plan;
    this.changed();
  }

  /**
   * Runs a node. A contender (competing node of a race) ends once its changes are applied, or kept as a patch because
   * it has lost.
   */
  run(id: string, context: NodeContext, work: (context: NodeContext) => Promise<Outcome>): Promise<Outcome> {
    const around = this.#around(id);
    return around.length > 0 ? this.#runIn(around, id, context, work) : work(context);
  }

  /** To be called when a node has ended: a contender that never started releases its worktree. */
  settled(id: string, outcome: Outcome): void {
    const contest = this.#contests.get(id);
    if (contest?.isUsed) void this.#close([contest, ...this.#around(id).slice(1)], outcome);
  }

  /**
   * Finds the races of the plan again; to be called after each change of the plan. A join (node that collects results)
   * with collected changes applies them when it succeeds.
   */
  changed(): void {
    const { all, scope } = this.#plan;
    const joins = [...all.entries.values()].filter(({ node }) => node.kind === "join");
    this.#hasJoin =
      scope.run.worktrees !== undefined && joins.some(({ node }) => node.kind === "join" && node.pick === "first");
    for (const join of joins) {
      const [contest] = this.#around(join.id);
      join.works = contest?.contender === join.id && (contest.isShared || contest.isBegun);
    }
  }

  /** Resolves when no worktree is in use. */
  async over(): Promise<void> {
    while (this.#closing.size > 0) await Promise.allSettled(this.#closing);
  }

  #around(id: string): Around {
    if (!this.#hasJoin) return [];
    return contendersOf(this.#plan.all, id).map((contender) => {
      const contest = this.#contests.get(contender) ?? new ContenderChanges(contender, this.#plan);
      this.#contests.set(contender, contest);
      return contest;
    });
  }

  async #runIn(
    around: Around,
    id: string,
    context: NodeContext,
    work: (context: NodeContext) => Promise<Outcome>,
  ): Promise<Outcome> {
    const [contest, ...outer] = around;
    const isContender = contest!.contender === id;
    const others = isContender ? outer : around;
    for (const other of others) other.enter();
    let outcome: Outcome;
    try {
      const scope = await this.#scopeIn(around);
      if ("status" in scope) outcome = scope;
      else outcome = await work({ ...context, scope, ...(!contest!.isAlone && { claim: always }) });
    } finally {
      for (const other of others) other.leave();
    }
    if (!isContender || !contest!.isUsed || pauseReason(context.signal) !== undefined) return outcome;
    return this.#close(around, outcome);
  }

  /** The scope for a node that is part of these contests. */
  async #scopeIn([contest, ...outer]: Around): Promise<PlanScope | Outcome> {
    if (!contest) return this.#plan.scope;
    const above = await this.#scopeIn(outer);
    if ("status" in above || contest.isAlone) return above;
    const open = () => contest.open(() => this.#scopeIn(outer));
    if (!contest.isShared) return { ...above, gather: open };
    const worktree = await open();
    if ("status" in worktree) return worktree;
    const { gather: _gather, ...rest } = above;
    return { ...rest, worktree };
  }

  /** Ends the collection of one contender's changes, and records the contender's outcome. */
  #close([contest, ...outer]: Around, outcome: Outcome): Promise<Outcome> {
    this.#contests.delete(contest!.contender); // a contender that is retried starts a new contest
    const work = contest!.close(() => this.#scopeIn(outer), outcome);
    this.#closing.add(work);
    return work.finally(() => this.#closing.delete(work));
  }
}

const always = (): Promise<boolean> => Promise.resolve(true);
