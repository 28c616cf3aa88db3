import { refsOf } from "../../core/plan/graph.ts";
import type { Node, Plan } from "../../core/plan/plan.ts";
import type { NodeStarted } from "../../core/run/history.ts";
import type { RunScope } from "./scope.ts";

/**
 * Where each plan below a task goes. After a crash a task asks again, perhaps in another order, so a plan takes the
 * place in which the same one was begun before; any other gets a number that was never used.
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
  /** The tasks of plans that nobody has claimed and that have not ended; from then on nobody can. */
  left(): string[];
}>;

/** What a task is told about helpers that were lost. */
export const lostText = (tasks: readonly string[]): string =>
  `The run was interrupted while helpers that you started ran in the background. These have not finished: ${tasks.join(", ")}. Start them again if you still need them.`;

function isSame(
  node: Node | undefined,
  { kind, agent, prompt }: NodeStarted,
  redact: (text: string) => string,
): boolean {
  if (node?.kind !== kind) return false;
  if (node.kind !== "task") return true;
  return node.task.agent === agent && (redact(node.task.prompt) === prompt || Object.keys(refsOf(node)).length > 0);
}
