import type { KeptEvent } from "../../core/run/event.ts";
import { hasEnded } from "../../core/run/history.ts";
import { doneWith, type Receipt, refusedWith } from "../../core/run/run-command.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { endingWith } from "./affected-tasks.ts";

/**
 * Cancels a task of a run that no process works on: its end is recorded, and its dependants are skipped when the run is
 * resumed. Owns the run meanwhile, so that no other process resumes it at the same time.
 */
export async function cancelIdleTask(
  store: RunStore,
  { id, path, reason }: Readonly<{ id: string; path: string; reason: string }>,
): Promise<Receipt> {
  const journal = await store.open(id, { kept: () => {}, lost: () => {} });
  try {
    const events = await journal.read();
    const state = events.reduce(reduce, emptyState(id));
    const { plan, nodes } = state;
    const view = nodes.get(path);
    if (hasEnded(events, { retryFailed: false })) return refusedWith("RUN_ENDED", "The run has ended.");
    if (view?.outcome) return refusedWith("TASK_ENDED", `"${path}" has ended (${view.status}).`);
    if (!plan || !Object.hasOwn(plan.nodes, path) || plan.nodes[path]?.kind === "join")
      return refusedWith(
        "UNKNOWN_TASK",
        `No process is working on the run, so only tasks of its plan can be cancelled: ${tasksOf(events)}.`,
      );
    const ending = endingWith(state, path);
    const outcome = { status: "cancelled", reason, final: true } as const;
    journal.append({ seq: state.seq + 1, run: id, path, at: Date.now(), type: "node.ended", outcome });
    await journal.durable();
    return doneWith(`"${path}" is cancelled.${ending}`);
  } finally {
    await journal.close();
  }
}

function tasksOf([started]: readonly KeptEvent[]): string {
  const nodes = started?.type === "run.started" ? Object.entries(started.plan.nodes) : [];
  return nodes.flatMap(([id, { kind }]) => (kind === "join" ? [] : [id])).join(", ");
}
