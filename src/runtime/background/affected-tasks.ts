import { topNodeOf } from "../../core/plan/graph.ts";
import type { State } from "../../core/run/state.ts";
import { endWith } from "../../core/schedule/consequences.ts";

/**
 * The message about a cancelled task: it names the tasks that end together with the cancelled task. Empty when there
 * are no such tasks.
 */
export function endingWith(state: State, path: string): string {
  if (path.includes("/")) return ` ${hearsOfIt(state, path)}`;
  const outcomeOf = (id: string) => state.nodes.get(id)?.outcome;
  const ending = state.plan ? endWith({ body: state.plan, outcomeOf }, path) : [];
  return ending.length === 0 ? "" : ` Skipped as a result: ${taskNames(ending)}.`;
}

/** Formats names of tasks as a list within a sentence. */
export function taskNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST).join(", ");
  return names.length > MOST ? `${shown} and ${names.length - MOST} more` : shown;
}

const MOST = 10;

/** Builds the sentence that names the top-level node whose agent is notified of the end of the task. */
function hearsOfIt({ plan }: State, path: string): string {
  return plan ? `"${topNodeOf(plan, path)}", which started the task, is notified.` : "";
}
