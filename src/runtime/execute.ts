import { applyChange, type Change } from "../core/change.ts";
import { begin, cancelAll, NOT_NEEDED, settle } from "../core/decide.ts";
import { messageOf } from "../core/error.ts";
import { failed, type Outcome } from "../core/outcome.ts";
import type { Body } from "../core/plan.ts";
import { schedule, type Schedule, type Step } from "../core/schedule.ts";
import { reasonOf, type Stop, stopped } from "./cancel.ts";
import { carryOut } from "./carry-out.ts";
import { deferred } from "./deferred.ts";
import type { Lookup } from "./fill-in.ts";
import type { Executed, Scope } from "./scope.ts";
import type { Release } from "./slots.ts";

/** A handle on a plan while it runs. */
export type Growing = Readonly<{ change(change: Change): void }>;

/**
 * Carries out a plan below `scope.prefix`: starts what may start, cancels what nobody needs, and resolves when
 * every node has ended. It decides nothing itself: `core/decide` does.
 */
export async function execute(body: Body, scope: Scope, started?: (growing: Growing) => void): Promise<Executed> {
  const all = schedule(body, scope.roots);
  const running = new Map<string, Stoppable>();
  const over = deferred<void>();
  const lookup: Lookup = {
    outcomeOf: (id) => (all.entries.has(id) ? all.entries.get(id)!.outcome : scope.outer(id)),
    nodeOf: (id) => all.entries.get(id)?.node,
  };

  const advance = (step: Step): void => {
    for (const id of step.settled) scope.run.emit(scope.prefix + id, { type: "node.ended", outcome: all.entries.get(id)!.outcome! });
    for (const id of step.cancel) running.get(id)?.abort(stopped(NOT_NEEDED));
    for (const id of step.start) start(id);
    if (all.unsettled === 0 && running.size === 0) over.resolve();
  };
  const start = (id: string): void => {
    const ended = (outcome: Outcome): void => {
      running.delete(id);
      advance(settle(all, id, outcome));
    };
    const work = all.entries.get(id)!.node.kind === "task" ? inTurn(id) : go(id);
    work.then(ended, (thrown: unknown) => ended(failed("CRASHED", `The task broke: ${messageOf(thrown)}`))).catch(over.reject);
  };
  const go = (id: string, slot?: Release): Promise<Outcome> => {
    const controller = new AbortController();
    running.set(id, controller);
    return carryOut(all.entries.get(id)!.node, { ...lookup, path: scope.prefix + id, scope, signal: controller.signal, slot });
  };
  /** Nothing is made for a task before it has its slot, so that ten thousand can wait. */
  const inTurn = async (id: string): Promise<Outcome> => {
    let stop: Stop | undefined;
    const slot = await new Promise<Release | undefined>((resolve) => {
      const ticket = scope.slots.queue(resolve);
      running.set(id, {
        abort: (reason) => {
          stop = reason;
          scope.slots.leave(ticket);
          resolve(undefined);
        },
      });
    });
    try {
      return stop ? { status: "cancelled", reason: stop.stop } : await go(id, slot);
    } finally {
      slot?.();
    }
  };
  const cancel = (): void => {
    const reason = reasonOf(scope.signal);
    const step = cancelAll(all, reason);
    for (const id of step.cancel) running.get(id)?.abort(stopped(reason));
    advance({ ...step, cancel: [] });
  };

  const resumed = replay(all, scope);
  if (scope.signal.aborted) cancel();
  else {
    scope.signal.addEventListener("abort", cancel, { once: true });
    advance(resumed);
    started?.({
      change: (change) => {
        const step = applyChange(all, change);
        scope.run.emit("", { type: "plan.changed", change });
        advance(step);
      },
    });
  }
  await over.promise;
  scope.signal.removeEventListener("abort", cancel);
  return { outcome: all.entries.get(body.output)!.outcome!, outcomeOf: (id) => all.entries.get(id)?.outcome };
}

/** What can be told to stop: a controller, or a task that still waits for its slot. */
type Stoppable = Readonly<{ abort(reason: Stop): void }>;

/** Feeds what an earlier life recorded to the schedule; what is left over is what still has to be done. */
function replay(all: Schedule, scope: Scope): Step {
  const start = new Set(begin(all).start);
  const settled: string[] = [];
  const take = (step: Step): void => {
    for (const id of step.start) start.add(id);
    settled.push(...step.settled.filter((id) => !scope.run.history.ended(scope.prefix + id)));
    for (const id of step.cancel) take(settle(all, id, { status: "cancelled", reason: NOT_NEEDED }));
  };
  for (const past of scope.run.history.under(scope.prefix)) {
    if (past.type === "changed") take(applyChange(all, past.change));
    else if (all.entries.has(past.id)) take(settle(all, past.id, past.outcome));
  }
  return { start: [...start].filter((id) => all.entries.get(id)!.state !== "settled"), settled, cancel: [] };
}
