import type { Outcome } from "../../core/outcome/outcome.ts";
import { deepestFirst, isBelow } from "../../core/plan/graph.ts";
import { type Stoppable, stopped } from "../async/cancel.ts";

/** The nodes of a run that wait for their slot or run, so that a person can cancel one of them by name. */
export class StoppableNodes {
  readonly #nodes = new Map<string, Stoppable>();
  /** The reasons of nodes that were cancelled by name. */
  readonly #cancelled = new Map<string, string>();
  readonly #unrecorded = new Set<string>();

  get size(): number {
    return this.#nodes.size;
  }

  add(path: string, node: Stoppable): void {
    this.#nodes.set(path, node);
  }

  /** Cancels a node for good, also while it stops because of a pause. False: no node of this path waits or runs. */
  cancel(path: string, reason: string): boolean {
    const node = this.#nodes.get(path);
    if (!node) return false;
    this.#cancelled.set(path, reason);
    node.abort(stopped(reason));
    return true;
  }

  /** Removes a node that has ended; returns its outcome, which is final if the node was cancelled by name. */
  end(path: string, outcome: Outcome): Outcome {
    this.#nodes.delete(path);
    const reason = this.#cancelled.get(path);
    if (reason === undefined || outcome.status !== "cancelled") return outcome;
    return { ...outcome, reason, final: true };
  }

  /** True for a node that was cancelled by name, and for every node below it: its end is recorded also during a pause. */
  isCancelled(path: string): boolean {
    for (const above of this.#cancelled.keys()) if (path === above || isBelow(path, above)) return true;
    return false;
  }

  /** To be called when the end of a node is not recorded, because the node continues when its run is resumed. */
  interrupt(path: string): void {
    this.#unrecorded.add(path);
  }

  /**
   * The nodes below a node that has ended for good whose own ends were not recorded, deepest first. They will not
   * continue, so the caller records their ends.
   */
  abandon(path: string): readonly string[] {
    if (this.#unrecorded.size === 0) return [];
    const below = [...this.#unrecorded].filter((other) => isBelow(other, path));
    for (const left of below) this.#unrecorded.delete(left);
    return deepestFirst(below);
  }
}
