import type { RunAbove } from "../core/delegation/run-above.ts";
import type { BudgetLimits } from "../core/run/budget.ts";
import { budgetSpent } from "../core/run/budget-spent.ts";
import { type BelowSpent, limitsBelow } from "../core/run/run-below.ts";
import type { RunStore } from "../core/run/run-store.ts";
import { CrewError } from "../core/schema/error.ts";
import { keptRuns } from "../runtime/background/stored-runs.ts";
import { readRecordedRun } from "../runtime/resume/recorded-run.ts";

/** How long to wait until the parent run has recorded what this run used. */
const REPORT_MS = 5_000;

/**
 * The limits of a run that a task of another run started, through whichever program: what is left of those above. A run above
 * that is stored elsewhere cannot be asked, so only the own limits hold.
 */
export async function budgetBelow(store: RunStore, above: RunAbove, own: BudgetLimits): Promise<BudgetLimits> {
  const [run] = placeOf(above);
  const recorded = await readRecordedRun(store, run).catch(() => undefined);
  if (!recorded) return own;
  const { maxTimeMs: _time, ...limits } = recorded.state.limits ?? {};
  const left = limitsBelow(own, limits, budgetSpent(recorded.records.events));
  if (left.maxSpawns === 0)
    throw new CrewError(
      "TOO_MANY_RUNS",
      `The run of the task ${above.task}, which started this run, has reached its limit of ${limits.maxSpawns} agents.`,
      "Raise --max-spawns of that run, or start this run outside of it.",
    );
  // This run itself counts as one of the agents that the parent may start.
  return left.maxSpawns === undefined ? left : { ...left, maxSpawns: left.maxSpawns - 1 };
}

/** Tells the run above what a run below it used, so that it is counted and shown there. */
export async function reportAbove(store: RunStore, above: RunAbove, spent: BelowSpent): Promise<void> {
  const [run, path] = placeOf(above);
  const told = keptRuns(store).tell(
    run,
    { do: "charge", path, spent },
    { waitMs: REPORT_MS, signal: AbortSignal.timeout(REPORT_MS) },
  );
  await told.catch(() => {}); // the run above is stored elsewhere, or has ended
}

/** A task is written as `run/path`. */
function placeOf({ task }: RunAbove): readonly [run: string, path: string] {
  const at = task.indexOf("/");
  return at < 0 ? [task, ""] : [task.slice(0, at), task.slice(at + 1)];
}
