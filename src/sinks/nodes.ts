import type { NodeView, State } from "../core/state.ts";
import { oneLine } from "./words.ts";

/** The nodes that people want to hear of, in the order in which they began: no joins, and of a loop what it did. */
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

/** How far a run is, counted in the nodes of its plan. */
export type Progress = Readonly<{ total: number; done: number; running: number; waiting: number }>;

/** How many nodes of the plan itself are done, running and waiting. */
export function progressOf(state: State): Progress {
  const planned = Object.entries(state.plan?.nodes ?? {}).filter(([, { kind }]) => kind !== "join");
  const added = [...state.nodes.values()].filter(
    ({ path, kind }) => kind !== "join" && !path.includes("/") && !Object.hasOwn(state.plan?.nodes ?? {}, path),
  );
  const ids = [...planned.map(([id]) => id), ...added.map(({ path }) => path)];
  const seen = ids.map((id) => state.nodes.get(id)).filter((view) => view !== undefined);
  const running = seen.filter(({ status }) => status === "running").length;
  const done = seen.length - running;
  return { total: ids.length, done, running, waiting: ids.length - seen.length };
}

/** What a node is called in front of people: its name, whose work it is, and in which round. */
export function nameOf({ label, path, agent }: NodeView): string {
  const round = /\.(\d+)\/[^/]*$/.exec(path)?.[1];
  const who = agent !== undefined && !label.includes(agent) ? ` (${agent})` : "";
  return oneLine(
    `${label}${who}${round !== undefined && Number(round) > 1 && label !== path ? `, round ${round}` : ""}`,
  );
}

/** `build.2/review` is below `build`. */
function parentsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((part, index) => [...parts.slice(0, index), part.replace(/\.\d+$/, "")].join("/"));
}

function faultOf({ outcome }: NodeView): string | undefined {
  return outcome?.status === "failed" ? outcome.fault.message : undefined;
}
