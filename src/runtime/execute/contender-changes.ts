import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Worktree } from "../../core/plan/isolation.ts";
import type { Node } from "../../core/plan/plan.ts";
import { contendersOf } from "../../core/schedule/contest.ts";
import type { Schedule } from "../../core/schedule/schedule.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { deferred } from "../async/deferred.ts";
import { createAskPerson } from "./ask-person.ts";
import type { Claims } from "./claims.ts";
import type { IsolatedNode, PlanScope } from "./scope.ts";

/** The plan of a race: its nodes, its scope, and the places for its winners. */
export type RacePlan = Readonly<{ all: Schedule; scope: PlanScope; claims: Claims }>;

/** A worktree, or the outcome of a task that cannot get one. */
export type OpenedTree = Worktree | Outcome;

/** The scope around a contender; its worktree is the one that receives the contender's changes. */
type ScopeAround = () => Promise<PlanScope | Outcome>;

/** The changes for one contender (competing node of a race), collected in a worktree until the race is decided. */
export class ContenderChanges {
  readonly contender: string;
  /** True: all tasks of the contender work in its worktree. False: only isolated subagents add their changes to it. */
  readonly isShared: boolean;
  /** True: the contender is one isolated task, whose own worktree contains all its changes. */
  readonly isAlone: boolean;
  readonly #plan: RacePlan;
  readonly #members: readonly string[];
  /** How many nodes work for the contender now, not counting itself. */
  #working = 0;
  #idle: (() => void) | undefined;
  #opened: Promise<OpenedTree> | undefined;
  /** Releases the worktree; returns the outcome of the contender with its changes. */
  #finish: ((outcome: Outcome) => Promise<Outcome>) | undefined;

  constructor(contender: string, plan: RacePlan) {
    const { all, scope } = plan;
    const nodeOf = (id: string): Node => all.entries.get(id)!.node;
    this.contender = contender;
    this.#plan = plan;
    this.#members = [...all.entries.keys()].filter((id) => contendersOf(all, id).includes(contender));
    const isIsolatedRace = this.#members.some((id) => isIsolated(nodeOf(id), scope));
    this.isAlone = isIsolatedRace && this.#members.length === 1 && nodeOf(contender).kind === "task";
    this.isShared = isIsolatedRace && !this.isAlone;
  }

  /** True when an earlier process of this run collected changes for the contender. */
  get isBegun(): boolean {
    const { run, prefix } = this.#plan.scope;
    const has = this.isShared ? hasWorked : hasGathered;
    return this.#members.some((id) => has(run.history, prefix + id));
  }

  /** True when there are changes to apply, or to keep as a patch, at the end of the contender. */
  get isUsed(): boolean {
    return !this.isAlone && (this.#opened !== undefined || this.isBegun);
  }

  /** Opens the worktree, once. */
  open(around: ScopeAround): Promise<OpenedTree> {
    this.#opened ??= this.#openIn(around);
    return this.#opened;
  }

  enter(): void {
    this.#working += 1;
  }

  leave(): void {
    this.#working -= 1;
    if (this.#working === 0) this.#idle?.();
  }

  /** Ends the collection, and returns the outcome of the contender with what happened to its changes. */
  async close(around: ScopeAround, outcome: Outcome): Promise<Outcome> {
    const opened = await this.open(around);
    if ("status" in opened) return outcome.status === "ok" ? opened : outcome;
    if (this.#working > 0) await new Promise<void>((resolve) => (this.#idle = resolve)); // the other tasks of the contender are being stopped
    return this.#finish!(outcome);
  }

  async #openIn(around: ScopeAround): Promise<OpenedTree> {
    const { all, scope } = this.#plan;
    const above = await around();
    if ("status" in above) return above;
    const base = above.gather ? await above.gather() : above.worktree;
    if (base && "status" in base) return base;
    const opened = deferred<OpenedTree>();
    const worked = deferred<Outcome>();
    const ended = scope.run
      .worktrees!.run(this.#node(base), (worktree) => {
        opened.resolve(worktree);
        return worked.promise;
      })
      .catch((error: unknown) => failed("CRASHED", messageOf(error)));
    void ended.then(opened.resolve);
    const join = all.entries.get(this.contender);
    if (join?.node.kind === "join") join.works = true;
    this.#finish = (outcome) => {
      worked.resolve(outcome);
      return ended;
    };
    return opened.promise;
  }

  #node(base: Worktree | undefined): IsolatedNode {
    const { scope, claims } = this.#plan;
    const { run, prefix, signal, depth, policy } = scope;
    const path = prefix + this.contender;
    const isBegun = this.isBegun;
    return {
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
      isBegun,
      hasWorked: isBegun && run.history.ended(path) === undefined,
      context: {
        ...createAskPerson({ path, scope }),
        claim: () => claims.claim(this.contender, signal),
        emit: (fact) => run.emit(path, fact),
        signal,
      },
    };
  }
}

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
