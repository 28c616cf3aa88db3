import { CrewError } from "../schema/error.ts";
import { parseAs } from "../schema/parse.ts";
import { lookAlikeOf } from "../text/name-characters.ts";
import { nearest } from "../text/nearest.ts";
import { type Needs, needsIn, needsOf, referencesOf, targetOf } from "./graph.ts";
import { type Body, type Node, type Plan, plan as planSchema } from "./plan.ts";
import { cycleIn } from "./topological-order.ts";

/** Maximum nesting of loops. */
export const MAX_LOOP_DEPTH = 8;

/** Parses and checks a plan; throws on the first fault. */
export function parsePlan(value: unknown): Plan {
  const plan = readPlan(value);
  checkPlan(plan);
  return plan;
}

/** Parses the structure of a plan; `checkPlan` checks its references. */
export function readPlan(value: unknown): Plan {
  return parseAs(planSchema, value, { code: "PLAN_INVALID", what: "plan" });
}

/** Throws on the first fault of a plan: the node, the problem, and what to do about it. */
export function checkPlan(plan: Body): void {
  checkBody(plan, [plan.output], () => false, 0);
}

/** Throws when a task names an unknown agent. The names of the known agents are computed only for this error. */
export function checkAgents(plan: Body, known: (name: string) => boolean, names: () => readonly string[]): void {
  for (const [id, node] of Object.entries(plan.nodes)) {
    if (node.kind === "loop") checkAgents(node.body, known, names);
    if (node.kind !== "task" || node.task.agent === undefined || known(node.task.agent)) continue;
    const { agent } = node.task;
    const who = id === agent ? "" : `, named by node "${id}"`;
    throw new CrewError("UNKNOWN_AGENT", `Unknown agent "${agent}"${who}.`, suggestion(agent, names(), "Known agents"));
  }
}

/** Throws when a task has `fork` but no agent starts it, so that there is no conversation to fork. */
export function checkForks({ nodes }: Pick<Body, "nodes">): void {
  for (const [id, node] of Object.entries(nodes)) {
    if (node.kind === "loop") checkForks(node.body);
    if (node.kind !== "task" || node.task.fork !== true) continue;
    throw new CrewError(
      "BAD_INPUT",
      `Task "${id}" has \`fork: true\`, but no agent starts the task, so no conversation can be forked.`,
      "Leave out `fork`, or name a task of an earlier run, as in `--fork RUN/TASK`.",
    );
  }
}

function checkBody(body: Body, roots: readonly string[], outer: Place["outer"], depth: number): void {
  const ids = Object.keys(body.nodes);
  if (ids.length === 0)
    throw new CrewError("PLAN_EMPTY", "The plan has no nodes.", "Add at least one task under `nodes`.");
  if (depth > MAX_LOOP_DEPTH) {
    throw new CrewError(
      "PLAN_TOO_DEEP",
      `Loops are nested more than ${MAX_LOOP_DEPTH} deep.`,
      "Flatten the plan: one loop inside another is usually enough.",
    );
  }
  for (const root of roots) {
    if (Object.hasOwn(body.nodes, root)) continue;
    const role = root === body.output ? "output" : "`until`";
    throw new CrewError(
      "PLAN_NO_OUTPUT",
      `The plan's ${role} "${root}" is not one of its nodes.`,
      suggestion(root, ids, "Known nodes"),
    );
  }
  const has = (id: string): boolean => Object.hasOwn(body.nodes, id);
  for (const [id, node] of Object.entries(body.nodes)) checkNode(id, node, { has, ids, outer, depth });
  const needs = needsIn(body);
  checkCycles(body, needs);
  checkUsed(body, roots, needs);
}

/** The sibling nodes of a checked node, and a test for the nodes of enclosing plans. */
type Place = Readonly<{ has(id: string): boolean; ids: readonly string[]; outer(id: string): boolean; depth: number }>;

/** Throws on the first fault of one node. */
export function checkNode(id: string, node: Node, { has, ids, outer, depth }: Place): void {
  const exists = (other: string): boolean => has(other) || outer(other);
  if (node.kind === "task" || node.kind === "gate") {
    for (const [name, reference] of referencesOf(node)) {
      if (exists(targetOf(reference))) continue;
      const hint = `${suggestion(targetOf(reference), ids, "Known nodes")} To keep the braces as text, list the real references under \`refs\`.`;
      throw new CrewError("PLAN_UNKNOWN_REFERENCE", `Node "${id}" refers to {${name}}, which is not a node.`, hint);
    }
  }
  for (const need of needsOf(node)) {
    if (need === id)
      throw new CrewError(
        "PLAN_SELF_DEPENDENCY",
        `Node "${id}" needs itself.`,
        `Remove "${id}" from its own needs and references.`,
      );
    if (!exists(need))
      throw new CrewError(
        "PLAN_UNKNOWN_NEED",
        `Node "${id}" needs "${need}", which is not a node.`,
        suggestion(need, ids, "Known nodes"),
      );
  }
  if (/\.\d+$/.test(id) && has(id.slice(0, id.lastIndexOf(".")))) {
    throw new CrewError(
      "PLAN_DUPLICATE_ID",
      `The name of node "${id}" is reserved for a later round of another node (NAME.NUMBER).`,
      "Give the node a name that does not end in a dot and a number.",
    );
  }
  const foreign = node.kind === "join" ? node.needs.find((need) => !has(need)) : undefined;
  if (foreign !== undefined) {
    throw new CrewError(
      "PLAN_UNKNOWN_NEED",
      `Node "${id}" depends on "${foreign}", which is outside of its loop.`,
      `Refer to {${foreign}} in a task of the loop instead.`,
    );
  }
  if (node.kind === "join" && node.pick === "first" && (node.count ?? 1) > new Set(node.needs).size) {
    throw new CrewError(
      "PLAN_INVALID",
      `Node "${id}" requires ${node.count} successful nodes but depends on only ${new Set(node.needs).size}.`,
      "Lower `count` or add nodes to its needs.",
    );
  }
  if (node.kind === "loop") {
    checkBody(node.body, [node.body.output, node.until], exists, depth + 1);
  }
}

function checkCycles(body: Body, needs: Needs): void {
  const path = cycleIn(body, needs);
  if (path === undefined) return;
  throw new CrewError(
    "PLAN_CYCLE",
    `The plan has a cycle: ${path.join(" -> ")}.`,
    `Remove one of these needs, for example "${path[1]}" from "${path[0]}".`,
  );
}

function checkUsed(body: Body, roots: readonly string[], needs: Needs): void {
  const used = new Set<string>();
  const walk = [...roots];
  for (let id = walk.pop(); id !== undefined; id = walk.pop()) {
    if (used.has(id)) continue;
    used.add(id);
    for (const need of needs.get(id) ?? []) walk.push(need);
  }
  const unused = Object.keys(body.nodes).find((id) => !used.has(id));
  if (unused === undefined) return;
  throw new CrewError(
    "PLAN_UNUSED_NODE",
    `Nothing uses node "${unused}": the output "${body.output}" does not depend on it.`,
    `Add "${unused}" to the needs of "${body.output}", or remove it.`,
  );
}

/** A hint about a mistyped name: "Did you mean ...", or the list of known names. */
export function suggestion(word: string, known: readonly string[], title: string): string {
  const like = lookAlikeOf(word, known);
  if (like !== undefined) return `Did you mean "${like}"? The given name has letters of another script.`;
  const close = nearest(word, known);
  if (close !== undefined) return `Did you mean "${close}"?`;
  const shown = known.slice(0, 12);
  const more = known.length > shown.length ? `, and ${known.length - shown.length} more` : "";
  return known.length === 0 ? `${title}: none.` : `${title}: ${shown.join(", ")}${more}.`;
}
