import { isDeepStrictEqual } from "node:util";
import { failed, isUndecided, type Outcome } from "../../core/outcome/outcome.ts";
import type { Body, Node } from "../../core/plan/plan.ts";
import { applyChange, type Change } from "../../core/schedule/change.ts";
import { begin, cancelAll, NOT_NEEDED, settle } from "../../core/schedule/decide.ts";
import { askedOf, type Lookup } from "../../core/schedule/fill-references.ts";
import { reopen } from "../../core/schedule/reopen.ts";
import { dependsOn, type Schedule, type ScheduleEntry, type Step, schedule } from "../../core/schedule/schedule.ts";
import { isCancelledForGood } from "../../core/run/history.ts";
import { crashAt, crashed, type RunPlace } from "../../core/task/crash.ts";
import { defined } from "../../core/text/defined.ts";
import { reasonOf, type Stop, type Stoppable, stopOf, stopped } from "../async/cancel.ts";
import { deferred } from "../async/deferred.ts";
import { onAbort } from "../async/on-abort.ts";
import type { Release } from "../async/slots.ts";
import { runGate } from "./gate-node.ts";
import { runLoop } from "./loop-node.ts";
import { createClaims } from "./claims.ts";
import { createContests } from "./contests.ts";
import type { HeldSlot, NodeContext, PlanOutcome, PlanScope } from "./scope.ts";
import { runTask } from "./task-node.ts";
import { isPrompt, promptFor } from "./task-prompt.ts";

/** The operations on a plan while it is executed. */
export type RunningPlan = Readonly<{
  change(change: Change): void;
  /** Cancels a node that waits for other nodes; false: the node has started, or no node has this id. */
  cancelWaiting(id: string, reason: string): boolean;
  /**
   * Restarts a failed node together with the nodes that were skipped because of it; returns the reason if that is not
   * possible.
   */
  retry(id: string): string | undefined;
}>;

/** Options for executing the plan of a run, not a plan inside of it. */
export type ExecuteOptions = Readonly<{
  /** Called when the plan can be changed. */
  started?(growing: RunningPlan): void;
  /** Only this node and the nodes that depend on it start; `over` is called when nothing of them is left. */
  only?: Readonly<{ node: string; over(): void }>;
}>;

/**
 * Executes a plan below `scope.prefix`: starts ready nodes, cancels nodes that are no longer needed, and resolves when
 * every node has ended. All decisions are made by `core/schedule/decide.ts`.
 */
export async function execute(
  body: Body,
  scope: PlanScope,
  { started, only }: ExecuteOptions = {},
): Promise<PlanOutcome> {
  const all = schedule(body, scope.roots);
  const running = new Map<string, Stoppable>();
  const over = deferred<void>();
  const hasWon = (id: string): boolean =>
    scope.run.history.events(scope.prefix + id).some(({ type }) => type === "node.won");
  /** The nodes that start, together with the nodes that depend on them; `undefined`: all nodes. */
  const wanted = only && new Set([only.node]);
  /** Ready nodes that do not start, because only another part of the plan was resumed. */
  const leftOut = new Set<string>();
  const claims = createClaims(all, {
    had: hasWon,
    record: (id) => {
      scope.run.emit(scope.prefix + id, { type: "node.won" });
      return scope.run.durable();
    },
  });
  const contests = createContests(all, scope, claims);
  const lookup: Lookup = {
    outcomeOf: (id) => (all.entries.has(id) ? all.entries.get(id)!.outcome : scope.outer.outcomeOf(id)),
    promptOf: (id) => (all.entries.has(id) ? askedOf(all.entries.get(id)!.node, lookup) : scope.outer.promptOf(id)),
    pathOf: (id) => (all.entries.has(id) ? scope.prefix + id : scope.outer.pathOf?.(id)),
  };

  /** Handles steps in turn, even when a listener of one step triggers the next. */
  const steps: { step: Step; stop: Stop }[] = [];
  let advancing = false;
  const advance = (step: Step, stop: Stop = stopped(NOT_NEEDED)): void => {
    steps.push({ step, stop });
    if (advancing) return;
    advancing = true;
    try {
      for (let next = steps.shift(); next !== undefined; next = steps.shift()) take(next.step, next.stop);
    } finally {
      advancing = false;
    }
    if (all.unsettled === 0) over.resolve();
    else if (only && !scope.signal.aborted && running.size === leftOut.size) only.over();
  };
  const take = (step: Step, stop: Stop): void => {
    for (const id of step.settled) {
      const path = scope.prefix + id;
      for (const left of [...scope.run.history.close(path), ...scope.run.stoppable.abandon(path)])
        scope.run.emit(left, { type: "node.ended", outcome: { status: "cancelled", reason: NOT_NEEDED } });
      const outcome = all.entries.get(id)!.outcome!;
      scope.run.emit(path, { type: "node.ended", outcome });
      contests.settled(id, outcome);
    }
    for (const id of step.cancel) running.get(id)?.abort(stop);
    for (const id of step.start) admit(id);
  };
  /** Lets a node start: a task first waits for its files and its slot; every other node starts at once. */
  const admit = (id: string): void => {
    const { state, node } = all.entries.get(id)!;
    if (state === "settled") return;
    if (scope.signal.aborted) advance(settle(all, id, { status: "cancelled", reason: reasonOf(scope.signal) }));
    else if (!isWanted(id)) leaveOut(id);
    else if (node.kind !== "task") follow(id, startNode(id));
    else if (node.task.writes === undefined) queueForSlot(id);
    else queueForFiles(id, node.task.writes);
  };
  const watch = (id: string, stoppable: Stoppable): void => {
    running.set(id, stoppable);
    scope.run.stoppable.add(scope.prefix + id, stoppable);
  };
  /** A contender that has won its race goes on in any case, because the other contenders wait for it. */
  const isWanted = (id: string): boolean => !wanted || dependsOn(all, id, wanted) || hasWon(id);
  /** Lets a ready node wait until the whole run is resumed. */
  const leaveOut = (id: string): void => {
    leftOut.add(id);
    const abort = (reason: Stop): void => {
      leftOut.delete(id);
      follow(id, Promise.resolve(cancelled(reason)));
    };
    watch(id, { abort });
  };
  /**
   * Waits for a task's files before the task gets a slot: the task that is writing the files may need a slot to end.
   */
  const queueForFiles = (id: string, globs: readonly string[]): void => {
    const path = scope.prefix + id;
    let granted = false;
    const ticket = scope.run.leases.queue(
      { of: path, globs },
      {
        come: (lease) => {
          granted = true;
          queueForSlot(id, lease);
        },
        waits: (blockers) => scope.run.emit(path, { type: "node.waiting", for: blockers }),
        failed: (thrown: unknown) => follow(id, Promise.resolve(crashed(thrown, placeOf(id)))),
      },
    );
    const abort = (reason: Stop): void => {
      if (scope.run.leases.leave(ticket)) follow(id, Promise.resolve(cancelled(reason)));
    };
    if (!granted) watch(id, { abort });
  };
  /** Puts a task that waits for a slot into the queue. The entry needs no signal and no promise. */
  const queueForSlot = (id: string, lease?: Release): void => {
    let stop: Stop | undefined;
    const start = async (held: HeldSlot): Promise<Outcome> => {
      await Promise.resolve(); // the start happens one microtask later, so that no task starts during a step
      return stop ? cancelled(stop) : startNode(id, held);
    };
    const ticket = scope.slots.queue((slot) => {
      const held: HeldSlot = { slot, ...defined({ lease }) };
      follow(id, start(held), held);
    });
    const abort = (reason: Stop): void => {
      stop = reason;
      if (scope.slots.leave(ticket))
        follow(id, Promise.resolve(cancelled(reason)), { slot: undefined, ...defined({ lease }) });
    };
    watch(id, { abort });
  };
  const startNode = (id: string, held: HeldSlot = { slot: undefined }): Promise<Outcome> => {
    const controller = new AbortController();
    watch(id, controller);
    const { node } = all.entries.get(id)!;
    const { outcomeOf, promptOf, pathOf } = lookup; // spreading the whole object would cost as much as creating the controller
    const path = scope.prefix + id;
    const { signal } = controller;
    const claim = (): Promise<boolean> => claims.claim(id, signal);
    const { decided } = all.entries.get(id)!;
    const context = { outcomeOf, promptOf, ...defined({ pathOf, decided }), path, scope, signal, held, claim };
    return contests.run(id, context, (own) => runNode(node.kind, node, own));
  };
  const placeOf = (id: string): RunPlace => ({
    run: scope.run.id,
    path: scope.prefix + id,
    kind: all.entries.get(id)!.node.kind,
  });
  /** Waits for the work of a node and ends the node with its outcome. */
  const follow = (id: string, work: Promise<Outcome>, held?: HeldSlot): void => {
    const ended = (outcome: Outcome): void | Promise<void> => {
      // Another task of the race has claimed the winner's place and applies its changes, so this one must wait.
      if (outcome.status === "ok" && claims.mustWait(id))
        return claims.claim(id, new AbortController().signal).then(() => close(outcome));
      close(outcome);
    };
    const close = (outcome: Outcome): void => {
      running.delete(id);
      advance(settle(all, id, scope.run.stoppable.end(scope.prefix + id, outcome)));
      claims.release(id);
      held?.slot?.(); // the slot is released only now, so that the end of this task is recorded before the next start
      held?.lease?.();
    };
    work
      .then(ended, (thrown: unknown) => ended(crashed(thrown, placeOf(id))))
      .catch((thrown: unknown) => over.reject(crashAt(thrown, placeOf(id))));
  };
  const cancel = (): void => {
    const stop = stopOf(scope.signal);
    advance(cancelAll(all, stop.stop), stop);
  };

  let deaf: (() => void) | undefined;
  const resumed = replay(all, scope, lookup);
  if (scope.signal.aborted) {
    cancel();
    advance(resumed);
  } else {
    deaf = onAbort(scope.signal, cancel);
    advance(resumed);
    started?.({
      change: (change) => {
        const step = applyChange(all, change);
        contests.changed();
        const agents = change.newTasks && scope.run.carry?.({ nodes: change.newTasks });
        scope.run.emit("", { type: "plan.changed", change, ...defined({ agents }) });
        advance(step);
      },
      cancelWaiting: (id, reason) => {
        if (all.entries.get(id)?.state !== "waiting") return false;
        advance(settle(all, id, { status: "cancelled", reason, final: true }));
        return true;
      },
      retry: (id) => {
        if (all.unsettled === 0) return "The run is about to end.";
        const step = reopen(all, id);
        if (typeof step === "string") return step;
        wanted?.add(id);
        advance(step);
        return undefined;
      },
    });
  }
  await over.promise;
  await contests.over();
  deaf?.();
  return { outcome: all.entries.get(body.output)!.outcome!, outcomeOf: (id) => all.entries.get(id)?.outcome };
}

const cancelled = ({ stop }: Stop): Outcome => ({ status: "cancelled", reason: stop });

type NodeOf = { [K in Node["kind"]]: Extract<Node, { kind: K }> };

/** The function that executes each kind of node. */
const nodeRunners: { readonly [K in Node["kind"]]: (node: NodeOf[K], context: NodeContext) => Promise<Outcome> } = {
  task: runTask,
  gate: runGate,
  loop: runLoop,
  join: async (_node, { path, scope, decided }) => {
    scope.run.emit(path, { type: "node.started", attempt: 1, kind: "join" });
    return decided ?? failed("CRASHED", "The outcome of this join is not known yet.");
  },
};

const runNode = <K extends Node["kind"]>(kind: K, node: NodeOf[K], context: NodeContext): Promise<Outcome> =>
  nodeRunners[kind](node, context);

/**
 * Applies the recorded outcomes of a resumed run to the schedule and returns the next step; the remaining nodes still
 * have to run.
 */
function replay(all: Schedule, scope: PlanScope, lookup: Lookup): Step {
  const { history } = scope.run;
  const start = new Set(begin(all).start);
  const stopping = new Set<string>();
  const settled: string[] = [];
  const take = (step: Step): void => {
    for (const id of step.start) start.add(id);
    for (const id of step.cancel) stopping.add(id);
    for (const id of step.settled) {
      const recorded = history.ended(scope.prefix + id);
      // Skipped and cancelled nodes wait again after a resume, so their outcome is reported again if it is the same
      // again.
      const stands = recorded && !isUndecided(recorded) && isDeepStrictEqual(recorded, all.entries.get(id)!.outcome);
      if (!stands) settled.push(id);
    }
  };
  for (const past of history.under(scope.prefix)) {
    if (past.type === "changed") take(applyChange(all, past.change));
    else if (isAsBefore(all.entries.get(past.id), past.outcome, { scope, lookup }))
      take(settle(all, past.id, past.outcome));
  }
  // A node that was being stopped before the interruption ends with its recorded outcome, or as cancelled.
  for (const id of stopping) {
    if (all.entries.get(id)!.state === "settled") continue;
    take(settle(all, id, history.ended(scope.prefix + id) ?? { status: "cancelled", reason: NOT_NEEDED }));
  }
  return { start: [...start].filter((id) => all.entries.get(id)!.state !== "settled"), settled, cancel: [] };
}

/**
 * Tells whether a recorded outcome belongs to the task that is requested now. A model may delegate a different task
 * under the same name; then the task, and the tasks that depend on it, run again.
 */
function isAsBefore(
  entry: ScheduleEntry | undefined,
  outcome: Outcome,
  { scope, lookup }: Readonly<{ scope: PlanScope; lookup: Lookup }>,
): boolean {
  if (!entry || entry.state === "settled") return false;
  if (isCancelledForGood(outcome)) return true; // a cancelled task stays cancelled, even if it had not started
  if (entry.state !== "running") return false;
  const before = scope.run.history.started(scope.prefix + entry.id);
  if (entry.node.kind !== before?.kind) return false;
  if (entry.node.kind !== "task" || before.prompt === undefined) return true;
  const prompt = promptFor(entry.node, scope.prefix + entry.id, { scope, lookup });
  return before.agent === entry.node.task.agent && isPrompt(before.prompt, scope.run.redact(prompt));
}
