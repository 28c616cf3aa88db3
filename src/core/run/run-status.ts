import { pathsAbove } from "../plan/graph.ts";
import { defined } from "../text/defined.ts";
import { hasWaitingNode, isLeftOut, type NodeView, nodesUnderWay, type State, waitsNow } from "./state.ts";

/** The status of a run as other processes see it. */
export type RunStatus =
  | "starting"
  | "running"
  | "waiting"
  | "parked"
  | "paused"
  | "interrupted"
  | "ok"
  | "failed"
  | "cancelled";

/**
 * The status of a run, from its journal and from whether a living process owns it: a run without an owner is not
 * running.
 */
export function runStatusOf(state: State, owned: boolean): RunStatus {
  if (state.status === "ok" || state.status === "failed" || state.status === "cancelled") return state.status;
  if (state.status === "skipped") return "failed";
  if (state.status === "paused") return "paused";
  if (!owned) return "interrupted";
  if (state.status === "starting") return "starting";
  if (openQuestions(state).length > 0) return "waiting";
  return isParked(state) ? "parked" : "running";
}

/** True when every unfinished task that has started waits for a provider, a quota or a budget. */
export function isParked(state: State): boolean {
  if (!some(state, ({ parked }) => parked !== undefined)) return false;
  const leaves = workingLeaves(state);
  return leaves.length > 0 && leaves.every(({ parked }) => parked !== undefined);
}

/** True when every node that has started waits: for an answer of a person, or because it is parked. */
export function isWaiting(state: State): boolean {
  if (!hasWaitingNode(state)) return false;
  const leaves = workingLeaves(state);
  return leaves.length > 0 && leaves.every(waitsNow);
}

/**
 * The tasks and gates that have started and not ended, without tasks that only wait for their subagents, and without
 * tasks that were not resumed.
 */
function workingLeaves(state: State): NodeView[] {
  const open = nodesUnderWay(state).filter(({ kind, path }) => kind !== "loop" && !isLeftOut(state, path));
  const above = new Set(open.flatMap(({ path }) => pathsAbove(path)));
  return open.filter(({ path }) => !above.has(path));
}

/**
 * Searches the nodes without copying them, because it is called after each event, and a run may have thousands of
 * nodes.
 */
function some(state: State, is: (view: NodeView) => boolean): boolean {
  for (const view of state.nodes.values()) if (is(view)) return true;
  return false;
}

/** True for a run that a living process works on. */
export function isActive(life: RunStatus | "damaged"): boolean {
  return life === "starting" || life === "running" || life === "waiting" || life === "parked";
}

/** True for an ended run. */
export function isEnded(life: RunStatus | "damaged"): boolean {
  return life === "ok" || life === "failed" || life === "cancelled";
}

/** A question of a run that has no answer yet. */
export type Question = Readonly<{
  run: string;
  path: string;
  question: string;
  /** The tool call that the question is about; absent for a gate of the plan. */
  call?: string;
  /** The question needs an answer in words; absent: yes or no. */
  wants?: "words";
  /** True: the answer may let the command use the network. */
  offersNetwork?: true;
  askedAt: number;
  agent?: string;
}>;

/** Every question of a run that has no answer yet, the oldest first. */
export function openQuestions(state: State): Question[] {
  if (state.endedAt !== undefined || !some(state, ({ question }) => question !== undefined)) return [];
  const asking = [...state.nodes.values()].filter(
    (view): view is NodeView & { question: string } => view.question !== undefined,
  );
  return asking
    .map(({ path, question, call, wants, offersNetwork, askedAt = 0, agent }) => ({
      run: state.run,
      path,
      question,
      askedAt,
      ...defined({ call, wants, offersNetwork, agent }),
    }))
    .toSorted((a, b) => a.askedAt - b.askedAt);
}
