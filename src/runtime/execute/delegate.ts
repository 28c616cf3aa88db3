import type { FailedOutcome, Outcome } from "../../core/outcome/outcome.ts";
import { endingOf } from "../../core/outcome/outcome-of-plan.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { nowhere } from "../../core/schedule/fill-references.ts";
import type { DelegationOutcome, Parent, UnawaitedHelpers } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { type Follower, following, stopped } from "../async/cancel.ts";
import { Slots } from "../async/slots.ts";
import { YieldingSlot } from "../async/yielding-slot.ts";
import { admitPlan } from "./admit-plan.ts";
import {
  type BackgroundHelpers,
  type CancelledOutcome,
  createBackgroundHelpers,
  type LaunchedHelper,
} from "./background-helpers.ts";
import { type ChildPaths, lostText, childPaths } from "./child-paths.ts";
import type { NodeContext, PlanScope } from "./scope.ts";
import { postMessage } from "./send-message.ts";

type DelegatingNode = Pick<NodeContext, "path" | "scope" | "signal" | "held">;

/** Runs plans below the path of the delegating task: `lead/scout`, and `lead.2/scout` the second time. */
export class Delegation {
  /** The slot of the task, which is free while its subagents work. */
  readonly slot: YieldingSlot;
  /** Waits until a subagent in the background has ended. */
  readonly news: BackgroundHelpers["news"];
  readonly background: UnawaitedHelpers;
  readonly #node: DelegatingNode;
  readonly #children = new Set<Promise<unknown>>();
  /** Created lazily, since most tasks start no subagents. */
  #places: ChildPaths | undefined;
  #attempt: { number: number; follower?: Follower } | undefined;

  constructor(node: DelegatingNode) {
    const { path, scope, signal, held } = node;
    this.#node = node;
    this.slot = new YieldingSlot(scope.slots, signal, { held });
    const launch: typeof this.launch = (...asked) => this.launch(...asked);
    const { background, news } = createBackgroundHelpers({ path, run: scope.run, launch });
    this.news = news;
    this.background = withDetached(background, node);
  }

  /** Starts an attempt once the task has a slot; false when the task was cancelled first. */
  async begin(number: number): Promise<boolean> {
    this.#attempt = { number };
    if (await this.slot.open()) return true;
    await this.end();
    return false;
  }

  /** Ends the attempt: stops its subagents and waits until they have ended. */
  async end(): Promise<void> {
    const over = this.#attempt;
    this.#attempt = undefined;
    this.slot.close();
    if (!over?.follower) return;
    over.follower.controller.abort(stopped(ENDED));
    over.follower.release();
    await Promise.allSettled(this.#children);
  }

  async delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<DelegationOutcome> {
    const launched = await this.launch(what, parent, stop);
    return "ended" in launched ? launched.ended : launched;
  }

  /** Notifies the task about subagents that a crash ended and that were not started again. */
  lost(): void {
    const { path, scope } = this.#node;
    const left = this.#placesOf(scope).left();
    if (left.length > 0) postMessage(scope.run, path, { from: path, text: lostText(left) });
  }

  /** Starts a plan of the task, and returns its path and its outcome. */
  async launch(
    what: AnyInput | Plan,
    parent: Parent,
    stop?: AbortSignal,
  ): Promise<LaunchedHelper | FailedOutcome | CancelledOutcome> {
    const { scope, signal } = this.#node;
    const plan = await admitPlan(what, parent, this.#node);
    if ("status" in plan) return plan;
    const attempt = this.#attempt;
    if (!attempt) return { status: "cancelled", reason: ENDED };
    attempt.follower ??= following(signal);
    const { controller, release } = following(attempt.follower.controller.signal, ...(stop ? [stop] : []));
    const prefix = this.#placesOf(scope).claim(plan);
    const ended = this.slot.whileFree(async () => {
      const own = scopeBelow(this.#node, parent, { prefix, plan, attempt: attempt.number, signal: controller.signal });
      const work = scope.run.execute(plan, own);
      this.#children.add(work);
      try {
        const { outcome, outcomeOf } = await work;
        return { ...endingOf(outcome, outcomeOf), under: prefix, nodes: outcomesOf(plan, outcomeOf) };
      } finally {
        this.#children.delete(work);
        release();
      }
    });
    return { plan, under: prefix, ended };
  }

  #placesOf({ run }: PlanScope): ChildPaths {
    this.#places ??= childPaths(this.#node.path, run);
    return this.#places;
  }
}

/**
 * Passes a background plan of a top-level task to the subagents that continue after the run, where the run supports
 * them.
 */
function withDetached(own: UnawaitedHelpers, node: DelegatingNode): UnawaitedHelpers {
  const { path, scope } = node;
  const { run, depth } = scope;
  const others = run.background;
  if (!others || depth > 0) return own;
  return {
    start: async (what, parent, tells) => {
      if (tells === "result") return own.start(what, parent, tells);
      const plan = await admitPlan(what, parent, node);
      if ("status" in plan) return plan;
      return others.start(plan, { ...parent, above: [`${run.id}/${path}`, ...(parent.above ?? [])] }, tells);
    },
    ended: async (key, signal) => (await others.ended(key, signal)) ?? own.ended(key, signal),
    stop: async (key, reason) => (await others.stop(key, reason)) || own.stop(key, reason),
  };
}

const ENDED = "the task that asked for it has ended";

/** The outcomes of the nodes that have ended, by id. */
function outcomesOf({ nodes }: Plan, outcomeOf: (id: string) => Outcome | undefined): Record<string, Outcome> {
  return Object.fromEntries(
    Object.keys(nodes).flatMap((id) => {
      const outcome = outcomeOf(id);
      return outcome ? [[id, outcome]] : [];
    }),
  );
}

type PlanBelow = Readonly<{ prefix: string; plan: Plan; attempt: number; signal: AbortSignal }>;

/**
 * The scope of a plan that a task starts: without the loop round, the judging node and the parent conversation of the
 * surrounding plan. Subagents of an isolated task collect their changes in the worktree of that task.
 */
function scopeBelow(
  { path, scope }: DelegatingNode,
  { worktree, ceiling, policy, conversation, model, filesOf }: Parent,
  { prefix, plan, attempt, signal }: PlanBelow,
): PlanScope {
  const { run, slots, depth, gather } = scope;
  return {
    run,
    prefix,
    roots: [plan.output],
    outer: nowhere,
    slots: plan.concurrency === undefined ? slots : new Slots(plan.concurrency, slots),
    ...defined({
      ceiling: ceiling ?? scope.ceiling,
      policy: policy ?? scope.policy,
      worktree: worktree ?? scope.worktree,
      conversation,
    }),
    ...(worktree?.top === scope.worktree?.top && defined({ gather })),
    // Only the hash comes from the task: changes must not return to the files of another task.
    ...(filesOf !== undefined && { filesOf: { task: attemptPath({ path, attempt }), hash: filesOf } }),
    parentModel: model,
    caller: path,
    signal,
    depth: depth + 1,
  };
}
