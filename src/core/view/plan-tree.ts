import type { Node, Plan } from "../plan/plan.ts";
import { terminalLine } from "./words.ts";

type Graph = Pick<Plan, "nodes" | "output">;

/** A plan as lines for a terminal: each node once, after the nodes that it depends on. */
export function planTree(plan: Graph, { columns, unicode }: Readonly<{ columns: number; unicode: boolean }>): string {
  const lines = [`${Object.keys(plan.nodes).length} nodes, the result is that of "${terminalLine(plan.output)}"`];
  branch(plan, "", { lines, signs: unicode ? ["\u251c\u2500 ", "\u2514\u2500 ", "\u2502  "] : ["|- ", "`- ", "|  "] });
  return `${lines.map((line) => (line.length > columns ? `${line.slice(0, columns - 3)}...` : line)).join("\n")}\n`;
}

type Drawing = Readonly<{ lines: string[]; signs: readonly [string, string, string] }>;

function branch(graph: Graph, indent: string, drawing: Drawing): void {
  const ids = inOrder(graph);
  const [middle, last, through] = drawing.signs;
  ids.forEach((id, at) => {
    const node = graph.nodes[id]!;
    const isLast = at === ids.length - 1;
    drawing.lines.push(`${indent}${isLast ? last : middle}${terminalLine(id)}  ${about(node)}`);
    if (node.kind === "loop") branch(node.body, `${indent}${isLast ? "   " : through}`, drawing);
  });
}

function about(node: Node): string {
  const needs = (node.needs ?? []).length === 0 ? "" : ` (after ${(node.needs ?? []).map(terminalLine).join(", ")})`;
  switch (node.kind) {
    case "task":
      return `${terminalLine(node.task.agent ?? "the default agent")}${needs}: ${terminalLine(node.task.prompt)}`;
    case "gate":
      return `asks a person${needs}: ${terminalLine(node.question)}`;
    case "join":
      return `${node.pick === "first" ? "takes the first good result" : "waits for all"}${needs}`;
    case "loop":
      return `repeats up to ${node.max} times until "${terminalLine(node.until)}" approves${needs}`;
  }
}

/** The nodes in an order in which each node comes after the nodes that it depends on. */
function inOrder({ nodes }: Graph): string[] {
  const done = new Set<string>();
  const visit = (id: string): void => {
    if (done.has(id) || nodes[id] === undefined) return;
    done.add(id);
    const before = [...done];
    for (const need of nodes[id].needs ?? []) visit(need);
    if (before.length !== done.size) {
      done.delete(id);
      done.add(id);
    }
  };
  for (const id of Object.keys(nodes)) visit(id);
  return [...done];
}

/** A plan as a Mermaid flowchart. */
export function planMermaid(plan: Graph): string {
  const ids = new Map<string, string>();
  const lines: string[] = ["flowchart TD"];
  mermaidBody(plan, { path: "", lines, ids, indent: "  " });
  return `${lines.join("\n")}\n`;
}

type Chart = Readonly<{ path: string; lines: string[]; ids: Map<string, string>; indent: string }>;

function mermaidBody({ nodes }: Graph, { path, lines, ids, indent }: Chart): void {
  const idOf = (id: string): string => {
    const key = `${path}/${id}`;
    const known = ids.get(key) ?? `n${ids.size}`;
    ids.set(key, known);
    return known;
  };
  for (const [id, node] of Object.entries(nodes)) {
    const own = idOf(id);
    if (node.kind === "loop") {
      lines.push(`${indent}subgraph ${own}["${label(id)}: up to ${node.max} rounds"]`);
      mermaidBody(node.body, { path: `${path}/${id}`, lines, ids, indent: `${indent}  ` });
      lines.push(`${indent}end`);
    } else if (node.kind === "gate") lines.push(`${indent}${own}{"${label(id)}"}`);
    else if (node.kind === "join") lines.push(`${indent}${own}(["${label(id)}: ${node.pick}"])`);
    else lines.push(`${indent}${own}["${label(id)}: ${label(node.task.agent ?? "default")}"]`);
    for (const need of node.needs ?? []) lines.push(`${indent}${idOf(need)} --> ${own}`);
  }
}

/** Escapes a text for the quotes of a Mermaid diagram. */
const label = (text: string): string =>
  terminalLine(text).replace(/[#"<>&]/g, (character) => `#${character.charCodeAt(0)};`);
