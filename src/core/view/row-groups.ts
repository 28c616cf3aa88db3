import { needsOf } from "../plan/graph.ts";
import type { Node } from "../plan/plan.ts";
import type { Parking } from "../run/event.ts";
import { isEnded, type RunStatus } from "../run/run-status.ts";
import { isLeftOut, LEFT_OUT, type NodeView, type State } from "../run/state.ts";

/** The groups of rows on the screen, in the order in which they are shown. */
export const groups = ["needs you", "failed", "working", "waiting", "done"] as const;
export type Group = (typeof groups)[number];

/** The group that a row belongs to, and for a waiting row what it waits for. */
export type Placed = Readonly<{ group: Group; waitsFor: string }>;

const placed = (group: Group, waitsFor = ""): Placed => ({ group, waitsFor });

/** The group of a run that is shown as one row. */
export function groupOfRun(state: State, life: RunStatus | "damaged"): Placed {
  switch (life) {
    case "failed":
    case "damaged":
      return placed("failed");
    case "ok":
    case "cancelled":
      return placed("done");
    case "interrupted":
      return placed("waiting", "interrupted: no process is working on the task");
    case "paused":
      return placed("waiting", `paused${state.pausedFor === undefined ? "" : `: ${state.pausedFor}`}`);
    default:
      return placed("working");
  }
}

/** The group of a node that has begun. `answered`: an answer to its question is kept until the run is resumed. */
export function groupOfNode(node: NodeView, life: RunStatus | "damaged", answered: boolean): Placed {
  const { status, kind, question, parked, doing, calling } = node;
  if (status === "failed") return placed(kind === "gate" ? "done" : "failed");
  if (status !== "running") return placed("done");
  if (isEnded(life)) return placed("done");
  if (question !== undefined && answered) return placed("waiting", "the run to be resumed; the question is answered");
  if (question !== undefined) return placed("needs you", "an answer");
  if (parked) return placed(needsPerson(parked) ? "needs you" : "waiting", parkedText(parked));
  if (life === "interrupted" || life === "paused") return placed("waiting", `the run is ${life}`);
  if (calling === 0 && doing.startsWith("waiting") && WAITS.test(doing))
    return placed("waiting", doing.replace(/^waiting (?:for )?/, ""));
  return placed("working");
}

/**
 * Matches the texts that describe the state of a task that waits for files of another task, or for its next attempt.
 */
const WAITS = /^waiting (?:for|to) /;

/** True for a parked task that only a person can let continue. */
const needsPerson = ({ waitsFor, until, nextTry }: Parking): boolean =>
  waitsFor === "person" || (until === undefined && nextTry === undefined);

function parkedText({ why, until, nextTry, helps }: Parking): string {
  if (until !== undefined) return `provider until ${clock(until)}: ${why}`;
  if (nextTry !== undefined) return `provider, next try ${clock(nextTry)}: ${why}`;
  return helps === "" ? why : `${why} ${helps}`;
}

/** The time of day on this machine, such as `14:05`. */
function clock(at: number): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** The group of a node that has not begun. Such a node waits for other nodes, or for a free slot. */
export function groupOfPlanned(
  state: State,
  { path, planned }: Readonly<{ path: string; planned: Node | undefined }>,
  life: RunStatus | "damaged",
): Placed {
  if (isEnded(life)) return placed("done");
  const open = planned ? unmetNeeds(state, planned) : [];
  if (open.length > 0) return placed("waiting", open.join(", "));
  if (life === "paused" || life === "interrupted") return placed("waiting", `the run is ${life}`);
  return placed("waiting", isLeftOut(state, path) ? LEFT_OUT : "a free slot");
}

function unmetNeeds(state: State, node: Node): string[] {
  return knownNeeds(node).flatMap((id) => (state.nodes.get(id)?.outcome === undefined ? namesOf(state, id) : []));
}

/**
 * The dependencies of a planned node, cached: a node never changes, and finding its placeholders requires a search of
 * its prompt.
 */
function knownNeeds(node: Node): readonly string[] {
  const known = needs.get(node) ?? needsOf(node);
  needs.set(node, known);
  return known;
}
const needs = new WeakMap<Node, readonly string[]>();

/** The names of a node for the screen; for a join, the names of the nodes whose outputs it collects. */
function namesOf(state: State, id: string): string[] {
  const node = state.plan?.nodes[id];
  return node?.kind === "join" ? unmetNeeds(state, node) : [id];
}
