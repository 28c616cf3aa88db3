import type { Outcome } from "../outcome/outcome.ts";
import { textOf } from "../plan/graph.ts";
import type { GateNode, Node, TaskNode } from "../plan/plan.ts";
import type { Reference } from "../plan/task.ts";
import { ownEntry } from "../text/json.ts";
import { fill, NO_OUTPUT } from "../text/template.ts";

/** Looks up the references of a prompt: in the plan, then in its enclosing plans. */
export type Lookup = Readonly<{
  outcomeOf(id: string): Outcome | undefined;
  /** The full prompt of a node. */
  promptOf(id: string): string;
  /** The path of a node in the run. */
  pathOf?(id: string): string | undefined;
}>;

/** A lookup that finds nothing, for a plan that no other plan encloses. */
export const nowhere: Lookup = { outcomeOf: () => undefined, promptOf: () => "" };

/**
 * The prompt of a task or gate with all references replaced. A reference to a node without an outcome is kept as
 * written.
 */
export function fillIn(node: TaskNode | GateNode, lookup: Lookup): string {
  const { text, refs } = textOf(node);
  return fill(text, { get: (name) => referredText(refs ? ownEntry(refs, name) : name, lookup) });
}

/** The text that a reference means; `undefined` without a reference, and for a node without an outcome. */
export function referredText(reference: Reference | undefined, lookup: Lookup): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== "string") return lookup.promptOf(reference.prompt);
  const outcome = lookup.outcomeOf(reference);
  return outcome && outputOfNode(outcome);
}

/** The prompt of a task or the question of a gate, with references filled in. */
export function askedOf(node: Node, lookup: Lookup): string {
  return node.kind === "task" || node.kind === "gate" ? fillIn(node, lookup) : "";
}

/** The output of a node as text for the prompt of another node. */
export function outputOfNode(outcome: Outcome | undefined): string {
  return outcome?.status === "ok" && outcome.output !== "" ? outcome.output : NO_OUTPUT;
}
