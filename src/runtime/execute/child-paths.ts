import { refsOf } from "../../core/plan/graph.ts";
import type { Node, Plan } from "../../core/plan/plan.ts";
import type { NodeStarted } from "../../core/run/history.ts";
import type { RunScope } from "./scope.ts";

/**
 * Assigns a path to each plan that a task starts. After a crash the task may start its plans in another order, so a
 * plan takes the path of the same plan before the crash; any other plan gets an unused number.
 */
export function childPaths(path: string, run: RunScope): ChildPaths {
  const before = [...run.history.delegated(path)];
  let last = Math.max(0, ...before.map(({ number }) => number));
  return {
    claim: (plan) => {
      const known = before.findIndex(
        ({ spent, started }) =>
          !spent && [...started].every(([id, event]) => isSame(plan.nodes[id], event, run.redact)),
      );
      if (known >= 0) return before.splice(known, 1)[0]!.prefix;
      last += 1;
      return last === 1 ? `${path}/` : `${path}.${last}/`;
    },
    left: () => {
      const unclaimed = before.splice(0).filter(({ spent }) => !spent);
      const tasks = unclaimed.flatMap(({ prefix, started }) => [...started.keys()].map((id) => prefix + id));
      return tasks.filter((task) => (run.history.ended(task)?.status ?? "cancelled") === "cancelled");
    },
  };
}

export type ChildPaths = Readonly<{
  claim(plan: Plan): string;
  /** Unfinished tasks of plans that were not requested again; no plan will take their paths from now on. */
  left(): string[];
}>;

/** The message to a task about subagents that were lost in a crash. */
export const lostText = (tasks: readonly string[]): string =>
  `The run was interrupted while agents that you started ran in the background. These have not finished: ${tasks.join(", ")}. Start them again if you still need them.`;

function isSame(
  node: Node | undefined,
  { kind, agent, prompt }: NodeStarted,
  redact: (text: string) => string,
): boolean {
  if (node?.kind !== kind) return false;
  if (node.kind !== "task") return true;
  return node.task.agent === agent && (redact(node.task.prompt) === prompt || Object.keys(refsOf(node)).length > 0);
}
