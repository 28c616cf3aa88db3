import { suggestion } from "../../core/plan/check.ts";
import { nodeAt } from "../../core/plan/graph.ts";
import { inTurns } from "../async/in-turns.ts";
import { checkFormat } from "../store/record-format.ts";
import type { KeptRecords, RunStore } from "../../core/run/run-store.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { typedPath } from "../../modes/names.ts";

/** A recorded run, read once and shared by resume and continue. */
export type RecordedRun = Readonly<{ id: string; records: KeptRecords; state: State }>;

/** Reads the records of a run. */
export async function readRecordedRun(store: RunStore, id: string): Promise<RecordedRun> {
  const records = await store.readWhole(id);
  checkFormat(records.events[0]);
  const state = emptyState(id);
  await inTurns(records.events, (event) => void reduce(state, event));
  return { id, records, state };
}

/** True for the path of a task that has begun, or of a task in the plan of the run. */
export function hasTask({ nodes, plan }: State, path: string): boolean {
  return nodes.has(path) || (plan !== undefined && nodeAt(plan, path) !== undefined);
}

/** The error about a path that no task of the run has, with the most similar paths. */
export function unknownTask({ run, nodes, plan }: State, path: string): CrewError {
  const paths = [...new Set([...Object.keys(plan?.nodes ?? {}), ...nodes.keys()])];
  const labelOf = (each: string): string | undefined => {
    const node = plan?.nodes[each];
    return nodes.get(each)?.label ?? (node?.kind === "task" ? node.task.label : undefined);
  };
  const known = paths.map((each) => typedPath(each, labelOf(each)));
  return new CrewError("UNKNOWN_RUN", `"${run}" has no task "${path}".`, suggestion(path, known, "Tasks of the run"));
}
