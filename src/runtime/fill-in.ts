import { refsOf, textOf } from "../core/graph.ts";
import type { Outcome } from "../core/outcome.ts";
import type { GateNode, Node, TaskNode } from "../core/plan.ts";
import { fill, NO_OUTPUT } from "../core/template.ts";

/** What references are looked up in. */
export type Lookup = Readonly<{
  outcomeOf(id: string): Outcome | undefined;
  nodeOf(id: string): Node | undefined;
}>;

/** The text of a task or gate with every reference replaced by what it stands for. */
export function fillIn(node: TaskNode | GateNode, lookup: Lookup): string {
  const values = new Map<string, string>();
  for (const [name, reference] of Object.entries(refsOf(node))) {
    values.set(name, typeof reference === "string" ? outputOf(lookup.outcomeOf(reference)) : promptOf(reference.prompt, lookup));
  }
  const { text } = textOf(node);
  return values.size === 0 ? text : fill(text, values);
}

/** The output of a node as another one reads it. */
export function outputOf(outcome: Outcome | undefined): string {
  return outcome?.status === "ok" && outcome.output !== "" ? outcome.output : NO_OUTPUT;
}

function promptOf(id: string, lookup: Lookup): string {
  const node = lookup.nodeOf(id);
  return node?.kind === "task" || node?.kind === "gate" ? fillIn(node, lookup) : "";
}
