import { placeholdersIn } from "./template.ts";
import type { Reference, Task } from "./task.ts";
import type { Body, GateNode, LoopNode, Node, TaskNode } from "./plan.ts";

/** The placeholders of a node and what they stand for; in a plan without `refs` every placeholder is one. */
export function refsOf(node: TaskNode | GateNode): Readonly<Record<string, Reference>> {
  const { text, refs } = textOf(node);
  return refs ?? Object.fromEntries(placeholdersIn(text).map((name) => [name, name]));
}

/** The text of a node that may hold placeholders. */
export function textOf(node: TaskNode | GateNode): { text: string; refs: Task["refs"] } {
  return node.kind === "task" ? { text: node.task.prompt, refs: node.task.refs } : { text: node.question, refs: node.refs };
}

/** Every node that this one waits for, each once: what it needs, refers to, or includes. */
export function needsOf(node: Node): string[] {
  const all = new Set(node.needs);
  if (node.kind === "task" || node.kind === "gate") {
    for (const reference of Object.values(refsOf(node))) all.add(targetOf(reference));
  }
  if (node.kind === "task") for (const id of node.task.include ?? []) all.add(id);
  if (node.kind === "loop") for (const id of outsideOf(node)) all.add(id);
  return [...all];
}

/** The node of a plan that a path means: `build.2/review` is `review` in the body of the loop `build`. */
export function nodeAt(body: Body, path: string): Node | undefined {
  const [first = "", ...rest] = path.split("/");
  if (rest.length === 0) return Object.hasOwn(body.nodes, first) ? body.nodes[first] : undefined;
  const loop = body.nodes[first.replace(/\.\d+$/, "")];
  return loop?.kind === "loop" ? nodeAt(loop.body, rest.join("/")) : undefined;
}

/** The node that a reference is about. */
export function targetOf(reference: Reference): string {
  return typeof reference === "string" ? reference : reference.prompt;
}

/** What the nodes of a loop's body take from outside of it. */
function outsideOf(loop: LoopNode): string[] {
  return Object.values(loop.body.nodes)
    .flatMap(needsOf)
    .filter((id) => !Object.hasOwn(loop.body.nodes, id));
}
