import type { Outcome, ReadOutcome } from "../core/outcome/outcome.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { Task } from "../core/plan/task.ts";
import type { ReadDelegation, StartedNode } from "../core/task/engine.ts";
import type { ToolContext } from "../core/task/tool.ts";
import { nodeIds } from "../modes/names.ts";

/** A request to one agent. The prompt is used literally: nothing in it is a placeholder. */
export type FacadeTask = Pick<Task, "agent" | "prompt"> &
  Partial<Omit<Task, "agent" | "prompt" | "refs">> &
  Readonly<{ id: string }>;

/** The outcome of one task of a delegation. */
export type FinishedNode = Readonly<{
  id: string;
  outcome: ReadOutcome;
  /** The id of the task, `run/path`, for later calls about it. */
  task: string;
}>;

/** The outcome of a delegation: as a whole, and of each assignment in the given order. */
export type DelegationEnd = Readonly<{ outcome: Outcome; done: readonly FinishedNode[] }>;

/** Makes a plan with one task, or with several tasks in parallel. */
export function planFor(assignments: readonly FacadeTask[], settings: Pick<Plan, "concurrency"> = {}): Plan {
  const nodes = Object.fromEntries(
    assignments.map(({ id, ...task }) => [id, { kind: "task" as const, task: { ...task, refs: {} } }]),
  );
  const ids = Object.keys(nodes);
  if (ids.length === 1) return { nodes, output: ids[0]! };
  const all = nodeIds([...ids.map((given) => ({ given, else: given })), { else: "all" }], "tasks").at(-1)!;
  return { ...settings, nodes: { ...nodes, [all]: { kind: "join", needs: ids, pick: "settled" } }, output: all };
}

/** Passes a plan to the run and waits for its end. */
export async function delegatePlan(plan: Plan, context: Pick<ToolContext, "delegate" | "run">): Promise<DelegationEnd> {
  return endedOf(plan, await context.delegate(plan), context);
}

/** The outcomes of the tasks of a delegated plan. */
export function endedOf(plan: Plan, delegated: ReadDelegation, { run }: Pick<ToolContext, "run">): DelegationEnd {
  const { under = "", nodes = {}, run: other, ...outcome } = delegated;
  const done = Object.entries(plan.nodes).flatMap(([id, { kind }]) => {
    const one = nodes[id];
    return one && kind !== "join" ? [{ id, outcome: one, task: `${other ?? run}/${under}${id}` }] : [];
  });
  return { outcome, done };
}

/** The id of a task that was started in the background, `run/path`. */
export const begunTask = ({ run: other, under }: StartedNode, id: string, run: string): string =>
  `${other ?? run}/${under}${id}`;
