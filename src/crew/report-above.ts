import type { RunAbove } from "../core/delegation/run-above.ts";
import type { BudgetLimits } from "../core/run/budget.ts";
import { budgetSpent } from "../core/run/budget-spent.ts";
import { type BelowSpent, limitsBelow } from "../core/run/run-below.ts";
import type { Receipt } from "../core/run/run-command.ts";
import type { RunStore } from "../core/run/run-store.ts";
import { CrewError } from "../core/schema/error.ts";
import { keptRuns } from "../runtime/background/stored-runs.ts";
import { readRecordedRun } from "../runtime/resume/recorded-run.ts";
import type { BudgetAbove } from "../runtime/run/borrow-budget.ts";
import type { RunsBelow } from "../runtime/run/lend-budget.ts";

/** How long to wait until the parent run has recorded what this run used. */
const REPORT_MS = 5_000;

/** The budget of the parent run: the run with the task whose program started this run. */
export type BudgetOfAbove = BudgetAbove &
  Readonly<{
    /** The limits of the nested run: its own limits, and what is left of the limits of the parent run. */
    left(own: BudgetLimits): BudgetLimits;
    /**
     * The task of the parent run whose program started this run, as `run/path`, and how many agents that run may still
     * start.
     */
    task: string;
    spawns: number | undefined;
  }>;

/**
 * The budget of the parent run. While a process works on that run, each amount is first reserved from its budget, so
 * that several nested runs cannot exceed that budget together. `undefined`: that run is in another store and cannot be
 * asked, so only this run's own limits apply.
 */
export async function budgetOfAbove(
  store: RunStore,
  above: RunAbove,
  below: string,
): Promise<BudgetOfAbove | undefined> {
  const [run, path] = placeOf(above);
  const recorded = await readRecordedRun(store, run).catch(() => undefined);
  if (!recorded) return undefined;
  const { maxTimeMs: _time, ...limits } = recorded.state.limits ?? {};
  const spent = budgetSpent(recorded.records.events);
  const isGone = async (): Promise<Receipt | undefined> => ((await store.owner(run)) === undefined ? GONE : undefined);
  return {
    limits,
    task: above.task,
    spawns: limitsBelow({}, limits, spent).maxSpawns,
    left: (own) => {
      const left = limitsBelow(own, limits, spent);
      // This run itself counts as one of the agents that the parent may start.
      return left.maxSpawns === undefined ? left : { ...left, maxSpawns: Math.max(0, left.maxSpawns - 1) };
    },
    ask: async (request, signal) => {
      const command = { do: "budget", path, below, request } as const;
      const receipt = await store.post(run, command, { waitMs: Number.POSITIVE_INFINITY, signal, ended: isGone });
      return receipt?.budget;
    },
  };
}

const GONE: Receipt = { done: false, text: "No process works on the run." };

/** Counts a nested run as one of the agents that the parent run may start. */
export async function countStart({ limits, task, spawns, ask }: BudgetOfAbove): Promise<void> {
  if (limits.maxSpawns === undefined) return;
  const reply = await ask({ what: "count", kind: "maxSpawns" }, AbortSignal.timeout(REPORT_MS));
  if (reply ? !reply.refusal : spawns !== 0) return;
  throw new CrewError(
    "TOO_MANY_RUNS",
    `The run of the task ${task}, which started this run, has reached its limit of ${limits.maxSpawns} agents.`,
    "Raise --max-spawns of that run, or start this run outside of it.",
  );
}

/** How a parent run checks its nested runs and takes back reservations. */
export const runsBelow = (store: RunStore): RunsBelow => ({
  isOwned: async (run) => (await store.owner(run)) !== undefined,
  revoke: (run, reservation) => {
    const options = { waitMs: REPORT_MS, signal: AbortSignal.timeout(REPORT_MS) };
    void keptRuns(store)
      .tell(run, { do: "revoke", reservation }, options)
      .catch(() => {});
  },
});

/** Reports the usage of a nested run to the parent run, where it is counted and shown. */
export async function reportAbove(store: RunStore, above: RunAbove, spent: BelowSpent): Promise<void> {
  const [run, path] = placeOf(above);
  const told = keptRuns(store).tell(
    run,
    { do: "charge", path, spent },
    { waitMs: REPORT_MS, signal: AbortSignal.timeout(REPORT_MS) },
  );
  await told.catch(() => {}); // the parent run is not in this store, or has ended
}

/** The run id and the task path of a task written as `run/path`. */
function placeOf({ task }: RunAbove): readonly [run: string, path: string] {
  const at = task.indexOf("/");
  return at < 0 ? [task, ""] : [task.slice(0, at), task.slice(at + 1)];
}
