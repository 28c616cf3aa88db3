import { isBelow } from "../plan/graph.ts";
import type { Plan } from "../plan/plan.ts";
import { isLeftOut, type NodeView, type State } from "../run/state.ts";
import { movesOf } from "../schedule/moves.ts";
import type { Look } from "./look.ts";
import { terminalLine } from "./words.ts";

/** The nodes to show, in start order: without joins, and with the body of a loop instead of the loop. */
export function shownNodes(state: State): NodeView[] {
  const all = [...state.nodes.values()];
  const loops = all.filter(({ kind }) => kind === "loop");
  const parents = new Set(loops.length > 0 ? all.flatMap(({ path }) => parentsOf(path)) : []);
  return all.filter((view) => {
    if (view.kind === "join") return false;
    if (view.kind !== "loop" || !parents.has(view.path)) return true;
    return (
      view.outcome?.status === "failed" && !all.some((other) => other !== view && faultOf(other) === faultOf(view))
    );
  });
}

/** The progress of a run: the number of nodes of its plan, and how many have succeeded. */
export type Progress = Readonly<
  Record<"total" | "done" | "failed" | "cancelled" | "skipped" | "running" | "waiting", number>
>;

/** Parts of the text about a run that has not ended: `2 of 5 done`, `1 running`, `2 waiting`. */
export function progressWords(progress: Progress): string[] {
  return [...settledWords(progress), ...counts(progress, ["running", "waiting"])];
}

/** The ended nodes by outcome: `2 of 5 done`, `1 failed`, `1 cancelled`, `1 skipped`. */
export function settledWords(progress: Progress): string[] {
  return [`${progress.done} of ${progress.total} done`, ...counts(progress, ["failed", "cancelled", "skipped"])];
}

const counts = (progress: Progress, kinds: readonly (keyof Progress)[]): string[] =>
  kinds.filter((how) => progress[how] > 0).map((how) => `${progress[how]} ${how}`);

/**
 * The progress of the plan's own nodes, without subagents. A screen asks for it in every frame, so it is counted again
 * only after a node has changed its state.
 */
export function progressOf(state: State): Progress {
  const moves = movesOf(state);
  const known = counted.get(state);
  if (known?.moves === moves) return known.progress;
  const progress = countProgress(state);
  counted.set(state, { moves, progress });
  return progress;
}
const counted = new WeakMap<State, Readonly<{ moves: number; progress: Progress }>>();

function countProgress(state: State): Progress {
  const planned = Object.entries(state.plan?.nodes ?? {}).filter(([, { kind }]) => kind !== "join");
  const added = [...state.nodes.values()].filter(
    ({ path, kind }) => kind !== "join" && !path.includes("/") && !Object.hasOwn(state.plan?.nodes ?? {}, path),
  );
  const ids = [...planned.map(([id]) => id), ...added.map(({ path }) => path)];
  const seen = ids.map((id) => state.nodes.get(id)).filter((view) => view !== undefined);
  const count = (how: NodeView["status"]): number => seen.filter(({ status }) => status === how).length;
  const leftOut = seen.filter(({ status, path }) => status === "running" && isLeftOut(state, path)).length;
  return {
    total: ids.length,
    done: count("ok"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    skipped: count("skipped"),
    running: count("running") - leftOut,
    waiting: ids.length - seen.length + leftOut,
  };
}

/** Nodes whose reviewed output was accepted without approval; of nested loops the outermost. */
export function unapprovedNodes(state: State): NodeView[] {
  const found = [...state.nodes.values()].filter(({ kind, outcome }) => kind === "loop" && outcome?.approved === false);
  return found.filter(({ path }) => !found.some((other) => isBelow(path, other.path)));
}

/** The display name of a node: its name, its agent and its round. */
export function nodeTitle({ label, path, agent, order }: NodeView): string {
  const who = agent !== undefined && !label.includes(agent) ? ` (${agent})` : "";
  return terminalLine(`${label}${who}${label === path ? "" : orderText(order)}`);
}

/**
 * The addition to a name: `, round 2` for a round of a loop; ` #2` for subagents that a task started in a second
 * delegation.
 */
export function orderText(order: NodeView["order"]): string {
  if (order === undefined) return "";
  return order.of === "round" ? `, round ${order.number}` : ` #${order.number}`;
}

/** A short description of a run: its name, or the prompt of its first task. */
export function describe(state: State): string {
  if (state.name !== undefined) return terminalLine(state.name);
  if (!state.plan) return "";
  const known = described.get(state.plan) ?? firstPrompt(state.plan);
  described.set(state.plan, known);
  return known;
}
/** Cache of descriptions: a plan does not change, and a screen needs them for every run in every frame. */
const described = new WeakMap<Plan, string>();

function firstPrompt({ nodes }: Plan): string {
  const first = Object.values(nodes).find((node) => node.kind === "task");
  return first?.kind === "task" ? terminalLine(first.task.prompt).slice(0, 100) : "";
}

/** The paths of all parents of a path, as `build` for `build.2/review`. */
function parentsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((part, index) => [...parts.slice(0, index), part.replace(/\.\d+$/, "")].join("/"));
}

function faultOf({ outcome }: NodeView): string | undefined {
  return outcome?.status === "failed" ? outcome.fault.message : undefined;
}

/** The symbol for the outcome of a node, in its colour. A rejection by a person is not shown as a failure. */
export function signFor({ status, kind }: NodeView, { colors, signs }: Look): string {
  if (status === "ok") return colors.green(signs.ok);
  return status === "failed" && kind !== "gate" ? colors.red(signs.failed) : colors.yellow(signs.none);
}
