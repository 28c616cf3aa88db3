import { placeholdersIn } from "../text/template.ts";
import type { Body, GateNode, LoopNode, Node, TaskNode } from "./plan.ts";
import type { Reference, Task } from "./task.ts";

/** The references of a node. If the node has no `refs`, every placeholder in its text is a reference. */
export function refsOf(node: TaskNode | GateNode): Readonly<Record<string, Reference>> {
  return Object.fromEntries(referencesOf(node));
}

/** All references of a node as a list. When every node is visited, a list is cheaper than an object. */
export function referencesOf(node: TaskNode | GateNode): [placeholder: string, reference: Reference][] {
  const { text, refs } = textOf(node);
  return refs ? Object.entries(refs) : placeholdersIn(text).map((name) => [name, name]);
}

/** The text of a node that may hold placeholders. */
export function textOf(node: TaskNode | GateNode): { text: string; refs: Task["refs"] } {
  return node.kind === "task"
    ? { text: node.task.prompt, refs: node.task.refs }
    : { text: node.question, refs: node.refs };
}

/** All dependencies of a node, each once: needs, references and attached results. */
export function needsOf(node: Node): string[] {
  const all = node.needs ? [...node.needs] : [];
  if (node.kind === "task" || node.kind === "gate")
    for (const [, reference] of referencesOf(node)) all.push(targetOf(reference));
  if (node.kind === "task" && node.task.resumes !== undefined) all.push(node.task.resumes);
  if (node.kind === "task" && node.task.include) for (const id of node.task.include) all.push(id);
  if (node.kind === "loop") for (const id of outsideOf(node)) all.push(id);
  return all.length > 1 ? [...new Set(all)] : all;
}

/** The dependencies of every node of a plan. */
export type Needs = ReadonlyMap<string, readonly string[]>;

/** Computes all dependencies once, for callers that walk a plan several times. */
export function needsIn({ nodes }: Body): Needs {
  return new Map(Object.keys(nodes).map((id) => [id, needsOf(nodes[id]!)]));
}

/** The node of a plan at a path: `build.2/review` is `review` in the body of the loop `build`. */
export function nodeAt(body: Body, path: string): Node | undefined {
  const cut = path.indexOf("/");
  if (cut < 0) return Object.hasOwn(body.nodes, path) ? body.nodes[path] : undefined;
  const loop = body.nodes[path.slice(0, cut).replace(/\.\d+$/, "")];
  return loop?.kind === "loop" ? nodeAt(loop.body, path.slice(cut + 1)) : undefined;
}

/**
 * True for the path of a node at any depth below the node at `above`, such as its subagents and the rounds of a loop.
 */
export function isBelow(path: string, above: string): boolean {
  return path.startsWith(above) && /^(?:\.\d+)?\//.test(path.slice(above.length));
}

/** Sorts paths in the order in which their nodes end: subagents before the task that started them. */
export const deepestFirst = (paths: readonly string[]): string[] =>
  paths.toSorted((a, b) => b.split("/").length - a.split("/").length);

/** Every path above the given path: `build.2` and `build` for `build.2/review`. */
export function pathsAbove(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const above = path.slice(0, at);
    const round = above.replace(/\.\d+$/, "");
    found.push(above, ...(round === above ? [] : [round]));
  }
  return found;
}

/** The top-level node of the plan that contains a path: `build` for `build.2/review`. */
export function topNodeOf({ nodes }: Body, path: string): string {
  const first = path.split("/", 1)[0]!;
  return Object.hasOwn(nodes, first) ? first : first.replace(/\.\d+$/, "");
}

/** Nodes of a plan, and every node that depends on one of them, directly or indirectly. */
export function withDependents(body: Body, ...ids: readonly string[]): ReadonlySet<string> {
  const dependents = new Map<string, string[]>();
  for (const [other, needs] of needsIn(body))
    for (const need of needs) dependents.set(need, [...(dependents.get(need) ?? []), other]);
  const all = new Set(ids);
  for (const each of all) for (const dependent of dependents.get(each) ?? []) all.add(dependent);
  return all;
}

/** The target node of a reference. */
export function targetOf(reference: Reference): string {
  return typeof reference === "string" ? reference : reference.prompt;
}

/** References of a loop's body to nodes outside of it. */
function outsideOf(loop: LoopNode): string[] {
  return Object.values(loop.body.nodes)
    .flatMap(needsOf)
    .filter((id) => !Object.hasOwn(loop.body.nodes, id));
}
