import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Body, Node } from "../../core/plan/plan.ts";
import { applyChange, type Change } from "../../core/schedule/change.ts";
import { cancelAll, NOT_NEEDED, settle } from "../../core/schedule/decide.ts";
import { askedOf, type Lookup } from "../../core/schedule/fill-references.ts";
import { reopen } from "../../core/schedule/reopen.ts";
import { dependsOn, type Schedule, schedule, type Step } from "../../core/schedule/schedule.ts";
import { crashAt, crashed, type RunPlace } from "../../core/task/crash.ts";
import { defined } from "../../core/text/defined.ts";
import { reasonOf, type Stop, type Stoppable, stopOf, stopped } from "../async/cancel.ts";
import { type Deferred, deferred } from "../async/deferred.ts";
import { onAbort } from "../async/on-abort.ts";
import type { Release } from "../async/slots.ts";
import { type Claims, createClaims } from "./claims.ts";
import { Contests } from "./contests.ts";
import { runGate } from "./gate-node.ts";
import { runLoop } from "./loop-node.ts";
import { replayOutcomes } from "./replay-outcomes.ts";
import type { HeldSlot, NodeContext, PlanOutcome, PlanScope } from "./scope.ts";
import { runTask } from "./task-node.ts";

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
export async function execute(body: Body, scope: PlanScope, options: ExecuteOptions = {}): Promise<PlanOutcome> {
  const execution = new Execution(body, scope, options);
  await execution.run();
  return { outcome: execution.outcomeOf(body.output)!, outcomeOf: (id) => execution.outcomeOf(id) };
}

/** One execution of a plan. */
class Execution implements RunningPlan {
  readonly #scope: PlanScope;
  readonly #options: ExecuteOptions;
  readonly #all: Schedule;
  readonly #lookup: Lookup;
  readonly #claims: Claims;
  readonly #contests: Contests;
  readonly #over: Deferred<void> = deferred<void>();
  /** The nodes that wait for files or a slot, or run. */
  readonly #running = new Map<string, Stoppable>();
  /** The nodes that start, together with the nodes that depend on them; `undefined`: all nodes. */
  readonly #wanted: Set<string> | undefined;
  /** Ready nodes that do not start, because only another part of the plan was resumed. */
  readonly #leftOut = new Set<string>();
  /** Handles steps in turn, even when a listener of one step triggers the next. */
  readonly #steps: { step: Step; stop: Stop }[] = [];
  #isAdvancing = false;

  constructor(body: Body, scope: PlanScope, options: ExecuteOptions) {
    const all = schedule(body, scope.roots);
    this.#scope = scope;
    this.#options = options;
    this.#all = all;
    this.#wanted = options.only && new Set([options.only.node]);
    this.#claims = createClaims(all, {
      had: (id) => this.#hasWon(id),
      record: (id) => {
        scope.run.emit(scope.prefix + id, { type: "node.won" });
        return scope.run.durable();
      },
    });
    this.#contests = new Contests({ all, scope, claims: this.#claims });
    this.#lookup = {
      outcomeOf: (id) => (all.entries.has(id) ? this.outcomeOf(id) : scope.outer.outcomeOf(id)),
      promptOf: (id) =>
        all.entries.has(id) ? askedOf(all.entries.get(id)!.node, this.#lookup) : scope.outer.promptOf(id),
      pathOf: (id) => (all.entries.has(id) ? scope.prefix + id : scope.outer.pathOf?.(id)),
    };
  }

  outcomeOf(id: string): Outcome | undefined {
    return this.#all.entries.get(id)?.outcome;
  }

  /** Resolves when every node has ended. */
  async run(): Promise<void> {
    const { signal } = this.#scope;
    const resumed = replayOutcomes(this.#all, this.#scope, this.#lookup);
    const isStopped = signal.aborted;
    if (isStopped) this.#cancel();
    const deaf = isStopped ? undefined : onAbort(signal, () => this.#cancel());
    this.#advance(resumed);
    if (!isStopped) this.#options.started?.(this);
    await this.#over.promise;
    await this.#contests.over();
    deaf?.();
  }

  change(change: Change): void {
    const { run } = this.#scope;
    const step = applyChange(this.#all, change);
    this.#contests.changed();
    const agents = change.newTasks && run.carry?.({ nodes: change.newTasks });
    run.emit("", { type: "plan.changed", change, ...defined({ agents }) });
    this.#advance(step);
  }

  cancelWaiting(id: string, reason: string): boolean {
    if (this.#all.entries.get(id)?.state !== "waiting") return false;
    this.#advance(settle(this.#all, id, { status: "cancelled", reason, final: true }));
    return true;
  }

  retry(id: string): string | undefined {
    if (this.#all.unsettled === 0) return "The run is about to end.";
    const step = reopen(this.#all, id);
    if (typeof step === "string") return step;
    this.#wanted?.add(id);
    this.#advance(step);
    return undefined;
  }

  #cancel(): void {
    const stop = stopOf(this.#scope.signal);
    this.#advance(cancelAll(this.#all, stop.stop), stop);
  }

  #advance(step: Step, stop: Stop = stopped(NOT_NEEDED)): void {
    this.#steps.push({ step, stop });
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      for (let next = this.#steps.shift(); next !== undefined; next = this.#steps.shift())
        this.#take(next.step, next.stop);
    } finally {
      this.#isAdvancing = false;
    }
    const { only } = this.#options;
    if (this.#all.unsettled === 0) this.#over.resolve();
    else if (only && !this.#scope.signal.aborted && this.#running.size === this.#leftOut.size) only.over();
  }

  #take({ settled, cancel, start }: Step, stop: Stop): void {
    const { run, prefix } = this.#scope;
    for (const id of settled) {
      const path = prefix + id;
      for (const left of [...run.history.close(path), ...run.stoppable.abandon(path)])
        run.emit(left, { type: "node.ended", outcome: { status: "cancelled", reason: NOT_NEEDED } });
      const outcome = this.outcomeOf(id)!;
      run.emit(path, { type: "node.ended", outcome });
      this.#contests.settled(id, outcome);
    }
    for (const id of cancel) this.#running.get(id)?.abort(stop);
    for (const id of start) this.#admit(id);
  }

  /** Lets a node start: a task first waits for its files and its slot; every other node starts at once. */
  #admit(id: string): void {
    const { signal } = this.#scope;
    const { state, node } = this.#all.entries.get(id)!;
    if (state === "settled") return;
    if (signal.aborted) this.#advance(settle(this.#all, id, { status: "cancelled", reason: reasonOf(signal) }));
    else if (!this.#isWanted(id)) this.#leaveOut(id);
    else if (node.kind !== "task") this.#follow(id, this.#start(id));
    else if (node.task.writes === undefined) this.#queueForSlot(id);
    else this.#queueForFiles(id, node.task.writes);
  }

  #watch(id: string, stoppable: Stoppable): void {
    this.#running.set(id, stoppable);
    this.#scope.run.stoppable.add(this.#scope.prefix + id, stoppable);
  }

  #hasWon(id: string): boolean {
    return this.#scope.run.history.events(this.#scope.prefix + id).some(({ type }) => type === "node.won");
  }

  /** A contender that has won its race goes on in any case, because the other contenders wait for it. */
  #isWanted(id: string): boolean {
    return !this.#wanted || dependsOn(this.#all, id, this.#wanted) || this.#hasWon(id);
  }

  /** Lets a ready node wait until the whole run is resumed. */
  #leaveOut(id: string): void {
    this.#leftOut.add(id);
    const abort = (reason: Stop): void => {
      this.#leftOut.delete(id);
      this.#follow(id, Promise.resolve(cancelled(reason)));
    };
    this.#watch(id, { abort });
  }

  /**
   * Waits for a task's files before the task gets a slot: the task that is writing the files may need a slot to end.
   */
  #queueForFiles(id: string, globs: readonly string[]): void {
    const { run, prefix } = this.#scope;
    const path = prefix + id;
    let granted = false;
    const ticket = run.leases.queue(
      { of: path, globs },
      {
        come: (lease) => {
          granted = true;
          this.#queueForSlot(id, lease);
        },
        waits: (blockers) => run.emit(path, { type: "node.waiting", for: blockers }),
        failed: (thrown: unknown) => this.#follow(id, Promise.resolve(crashed(thrown, this.#placeOf(id)))),
      },
    );
    const abort = (reason: Stop): void => {
      if (run.leases.leave(ticket)) this.#follow(id, Promise.resolve(cancelled(reason)));
    };
    if (!granted) this.#watch(id, { abort });
  }

  /** Puts a task that waits for a slot into the queue. The entry needs no signal and no promise. */
  #queueForSlot(id: string, lease?: Release): void {
    const { slots } = this.#scope;
    let stop: Stop | undefined;
    const start = async (held: HeldSlot): Promise<Outcome> => {
      await Promise.resolve(); // the start happens one microtask later, so that no task starts during a step
      return stop ? cancelled(stop) : this.#start(id, held);
    };
    const ticket = slots.queue((slot) => {
      const held: HeldSlot = { slot, ...defined({ lease }) };
      this.#follow(id, start(held), held);
    });
    const abort = (reason: Stop): void => {
      stop = reason;
      if (slots.leave(ticket))
        this.#follow(id, Promise.resolve(cancelled(reason)), { slot: undefined, ...defined({ lease }) });
    };
    this.#watch(id, { abort });
  }

  #start(id: string, held: HeldSlot = { slot: undefined }): Promise<Outcome> {
    const controller = new AbortController();
    this.#watch(id, controller);
    const { node, decided } = this.#all.entries.get(id)!;
    const { outcomeOf, promptOf, pathOf } = this.#lookup; // spreading the whole object would cost as much as creating the controller
    const scope = this.#scope;
    const { signal } = controller;
    const claim = (): Promise<boolean> => this.#claims.claim(id, signal);
    const path = scope.prefix + id;
    const context = { outcomeOf, promptOf, ...defined({ pathOf, decided }), path, scope, signal, held, claim };
    return this.#contests.run(id, context, (own) => runNode(node.kind, node, own));
  }

  #placeOf(id: string): RunPlace {
    const { run, prefix } = this.#scope;
    return { run: run.id, path: prefix + id, kind: this.#all.entries.get(id)!.node.kind };
  }

  /** Waits for the work of a node and ends the node with its outcome. */
  #follow(id: string, work: Promise<Outcome>, held?: HeldSlot): void {
    const ended = async (outcome: Outcome): Promise<void> => {
      // Another task of the race has claimed the winner's place and applies its changes, so this one must wait.
      if (outcome.status === "ok" && this.#claims.mustWait(id))
        await this.#claims.claim(id, new AbortController().signal);
      this.#close(id, outcome, held);
    };
    work
      .then(ended, (thrown: unknown) => ended(crashed(thrown, this.#placeOf(id))))
      .catch((thrown: unknown) => this.#over.reject(crashAt(thrown, this.#placeOf(id))));
  }

  #close(id: string, outcome: Outcome, held: HeldSlot | undefined): void {
    const { run, prefix } = this.#scope;
    this.#running.delete(id);
    this.#advance(settle(this.#all, id, run.stoppable.end(prefix + id, outcome)));
    this.#claims.release(id);
    held?.slot?.(); // the slot is released only now, so that the end of this task is recorded before the next start
    held?.lease?.();
  }
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
