import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import { endingOf } from "../../core/outcome/outcome-of-plan.ts";
import { DEFAULT_AGENT } from "../../core/delegation/roster.ts";
import { allowedText, refusedInPlan } from "../../core/delegation/spawn.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import { nowhere } from "../../core/schedule/fill-references.ts";
import { isCrewError } from "../../core/schema/error.ts";
import type { DelegationOutcome, Parent, UnawaitedHelpers } from "../../core/task/engine.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import { defined } from "../../core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "../../core/vocabulary/limits.ts";
import { type Follower, following, stopped } from "../async/cancel.ts";
import { Slots } from "../async/slots.ts";
import {
  type BackgroundHelpers,
  type CancelledOutcome,
  createBackgroundHelpers,
  type LaunchedHelper,
} from "./background-helpers.ts";
import { type ChildPaths, lostText, childPaths } from "./child-paths.ts";
import type { NodeContext, PlanScope } from "./scope.ts";
import { postMessage } from "./send-message.ts";

/** The slot of a task, and the functions with which it starts subagents. */
export type DelegationSlot = BackgroundHelpers &
  Readonly<{
    /** Starts an attempt once the task has a slot; false when the task was cancelled first. */
    begin(attempt: number): Promise<boolean>;
    /** Ends the attempt: stops its subagents and waits until they have ended. */
    end(): Promise<void>;
    /** Releases the slot until the next attempt. */
    releaseSlot(): void;
    /** Gives the slot to other tasks while the task waits, and then takes a slot again. */
    freeSlot<T>(wait: () => Promise<T>): Promise<T>;
    delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<DelegationOutcome>;
    /** Notifies the task about subagents that a crash ended and that were not started again. */
    lost(): void;
  }>;

/**
 * Runs plans below the path of the delegating task: `lead/scout`, and `lead.2/scout` the second time. The task's slot
 * is free while it waits. If tasks kept their slots while their subagents queue for a slot, every run whose depth
 * reaches the number of slots would hang.
 */
export function createDelegation({
  path,
  scope,
  signal,
  held,
}: Pick<NodeContext, "path" | "scope" | "signal" | "held">): DelegationSlot {
  const children = new Set<Promise<unknown>>();
  let places: ChildPaths | undefined;
  /** Created lazily, since most tasks start no subagents. */
  let attempt: { number: number; follower?: Follower } | undefined;
  let waitsFor = 0;
  let taking: Promise<void> | undefined;

  const releaseSlot = (): void => {
    held.slot?.();
    held.slot = undefined;
  };
  /**
   * Takes a slot. If the slot comes too late, because the attempt has ended or waits for subagents again, it is
   * released at once.
   */
  const take = async (): Promise<void> => {
    const taken = await scope.slots.take(signal);
    taking = undefined;
    if (attempt && waitsFor === 0 && !held.slot && !signal.aborted) held.slot = taken;
    else taken?.();
  };
  const hold = async (): Promise<void> => {
    if (!attempt || waitsFor > 0 || held.slot) return;
    taking ??= take();
    await taking;
  };

  const freeSlot: DelegationSlot["freeSlot"] = async (wait) => {
    waitsFor += 1;
    releaseSlot();
    try {
      return await wait();
    } finally {
      waitsFor -= 1;
      await hold();
    }
  };

  const begin = async (number: number): Promise<boolean> => {
    attempt = { number };
    await hold();
    if (held.slot && !signal.aborted) return true;
    await end();
    return false;
  };
  const end = async (): Promise<void> => {
    const over = attempt;
    attempt = undefined;
    if (!over?.follower) return;
    over.follower.controller.abort(stopped(ENDED));
    over.follower.release();
    await Promise.allSettled(children);
  };

  /**
   * Checks depth, spawn policy and budget of a plan that an agent wants to start. Every delegation of a run goes
   * through this function.
   */
  const admit = async (what: AnyInput | Plan, { spawns }: Parent): Promise<Plan | FailedOutcome> => {
    const { parameters, spawning } = scope.run;
    const { maxDepth = DEFAULT_MAX_DEPTH } = parameters;
    if (maxDepth >= 0 && scope.depth + 1 > maxDepth) {
      return failed("DENIED", `"${path}" is at depth ${scope.depth} and may not start other agents.`, {
        hint: "Raise maxDepth if this is intended.",
      });
    }
    const plan = planned(() => scope.run.compile(what));
    if ("status" in plan) return plan;
    const { nameOf = ({ agent = DEFAULT_AGENT }: Task) => agent, blocked } = spawning ?? {};
    const refused = refusedInPlan(plan, { spawns, ...defined({ blocked }) }, nameOf);
    if (refused)
      return failed("DENIED", `"${path}" may not start the agent "${refused.agent}".`, {
        hint:
          refused.why === "blocked"
            ? "The run was started from this agent, which must not start itself again."
            : `The \`spawns\` list of the agent behind "${path}" allows: ${allowedText(spawns)}.`,
      });
    const tasks = Object.values(plan.nodes).filter(({ kind }) => kind === "task").length;
    for (let task = 0; task < tasks; task += 1) {
      const refusal = await scope.run.budget.count("maxSpawns");
      if (refusal)
        return failed("BUDGET", `"${path}" may not start more agents: ${refusal.refused}.`, {
          hint: "Raise the limit with --max-spawns.",
        });
    }
    return plan;
  };
  const launch = async (
    what: AnyInput | Plan,
    parent: Parent,
    stop: AbortSignal | undefined,
  ): Promise<LaunchedHelper | FailedOutcome | CancelledOutcome> => {
    const plan = await admit(what, parent);
    if ("status" in plan) return plan;
    if (!attempt) return { status: "cancelled", reason: ENDED };
    attempt.follower ??= following(signal);
    places ??= childPaths(path, scope.run);
    const { controller, release: unfollow } = following(attempt.follower.controller.signal, ...(stop ? [stop] : []));
    waitsFor += 1;
    releaseSlot();
    const prefix = places.claim(plan);
    const work = scope.run.execute(plan, {
      ...ownScope(scope, parent),
      prefix,
      roots: [plan.output],
      outer: nowhere,
      slots: plan.concurrency === undefined ? scope.slots : new Slots(plan.concurrency, scope.slots),
      ...defined({ ceiling: parent.ceiling, policy: parent.policy, worktree: parent.worktree }),
      ...defined({ conversation: parent.conversation }),
      // Only the hash comes from the task: changes must not return to the files of another task.
      ...(parent.filesOf !== undefined && {
        filesOf: { task: attemptPath({ path, attempt: attempt.number }), hash: parent.filesOf },
      }),
      parentModel: parent.model,
      caller: path,
      signal: controller.signal,
      depth: scope.depth + 1,
    });
    children.add(work);
    const ended = async (): Promise<DelegationOutcome> => {
      try {
        const { outcome, outcomeOf } = await work;
        return { ...endingOf(outcome, outcomeOf), under: prefix, nodes: outcomesOf(plan, outcomeOf) };
      } finally {
        children.delete(work);
        unfollow();
        waitsFor -= 1;
        await hold();
      }
    };
    return { plan, under: prefix, ended: ended() };
  };
  const delegate: DelegationSlot["delegate"] = async (what, parent, stop) => {
    const launched = await launch(what, parent, stop);
    return "ended" in launched ? launched.ended : launched;
  };
  const lost = (): void => {
    places ??= childPaths(path, scope.run);
    const left = places.left();
    if (left.length > 0) postMessage(scope.run, path, { from: path, text: lostText(left) });
  };
  const { background, news } = createBackgroundHelpers({ path, run: scope.run, launch });
  return {
    begin,
    end,
    releaseSlot,
    freeSlot,
    delegate,
    lost,
    news,
    background: withDetached(background, { path, scope }, admit),
  };
}

/**
 * Passes a background plan of a top-level task to the subagents that continue after the run, where the run supports
 * them.
 */
function withDetached(
  own: UnawaitedHelpers,
  { path, scope: { run, depth } }: Pick<NodeContext, "path" | "scope">,
  admit: (what: AnyInput | Plan, parent: Parent) => Promise<Plan | FailedOutcome>,
): UnawaitedHelpers {
  const others = run.background;
  if (!others || depth > 0) return own;
  return {
    start: async (what, parent, tells) => {
      if (tells === "result") return own.start(what, parent, tells);
      const plan = await admit(what, parent);
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

/** Compiles a plan that a model requested. An invalid request is a failed delegation, not a failed run. */
function planned(compile: () => Plan): Plan | FailedOutcome {
  try {
    return compile();
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return failed("AGENT_REPORTED", error.message, { hint: error.hint });
  }
}

/**
 * The scope for subagents: without the loop round, the judging node and the parent conversation of the surrounding
 * plan. Subagents of an isolated task collect their changes in the worktree of that task.
 */
function ownScope(
  { round: _round, loop: _loop, judge: _judge, conversation: _above, filesOf: _files, gather, ...scope }: PlanScope,
  { worktree }: Parent,
): PlanScope {
  return worktree?.top === scope.worktree?.top ? { ...scope, ...defined({ gather }) } : scope;
}
