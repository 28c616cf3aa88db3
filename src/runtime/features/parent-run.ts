import { randomUUID } from "node:crypto";
import { isTooDeep, type RunAbove, readRunAbove, RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import type { Amount, Budget } from "../../core/run/budget.ts";
import { budgetSpent } from "../../core/run/budget-spent.ts";
import { createBelowMeter, limitsBelow } from "../../core/run/run-below.ts";
import { type Receipt, refusedWith, type RunCommand } from "../../core/run/run-command.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { keptRuns } from "../background/stored-runs.ts";
import { readRecordedRun } from "../resume/recorded-run.ts";
import type { Feature } from "./feature.ts";
import type { BudgetAbove, ParentRun } from "./start.ts";

export const parentRunFeature: Feature = {
  name: "parent run",
  does: "reserves every amount from the budget of the run that started it, too, and reports to that run what it used",
  check: async ({ above, resume }) => {
    if (above?.budget && !resume) await countStart(above.task, above.budget);
  },
  open: ({ id, above, store }) => {
    if (!above || !store) return {};
    const { budget: parent } = above;
    const meter = createBelowMeter(id);
    let borrowed: BorrowedBudget | undefined;
    return {
      outlets: ({ emit, live }) => ({
        emit: (path, fact) => {
          meter.see(path, fact);
          emit(path, fact);
        },
        live,
      }),
      scope: ({ budget }) => {
        if (!parent) return {};
        borrowed = borrowBudget(budget, parent);
        return { budget: borrowed.budget };
      },
      commands: { revoke: (reservation) => borrowed?.revoke(reservation) },
      close: () => borrowed?.settled(),
      closed: () => tell(store, above, (path) => ({ do: "charge", path, spent: meter.spent() })),
    };
  },
};

/** How long to wait until the parent run has recorded what this run used. */
const REPORT_MS = 5_000;

/** The run that started this process; throws if that run may not start others so deep. */
export async function findParentRun(
  store: RunStore,
  env: Readonly<Record<string, string | undefined>>,
  below: string,
): Promise<ParentRun | undefined> {
  const above = readRunAbove(env[RUN_ABOVE_VARIABLE]);
  if (!above) return undefined;
  if (isTooDeep(above))
    throw new CrewError(
      "TOO_DEEP",
      `${above.task} started this run, and that task may not start other agents: the maximum depth is ${above.maxDepth}.`,
      "Raise --max-depth of the parent run, or start this run outside of it.",
    );
  const budget = await budgetOfAbove(store, above, below);
  return { ...above, ...defined({ budget }) };
}

/**
 * The budget of the parent run. While a process works on that run, each amount is first reserved from its budget, so
 * that several nested runs cannot exceed that budget together. `undefined`: that run is in another store and cannot be
 * asked, so only this run's own limits apply.
 */
async function budgetOfAbove(store: RunStore, above: RunAbove, below: string): Promise<BudgetAbove | undefined> {
  const [run, path] = placeOf(above);
  const recorded = await readRecordedRun(store, run).catch(() => undefined);
  if (!recorded) return undefined;
  const { maxTimeMs: _time, ...limits } = recorded.state.limits ?? {};
  const spent = budgetSpent(recorded.records.events);
  const isGone = async (): Promise<Receipt | undefined> => ((await store.owner(run)) === undefined ? GONE : undefined);
  return {
    limits,
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

const GONE = refusedWith("NOT_RUNNING", "No process works on the run.");

/** Counts a nested run as one of the agents that the parent run may start. */
async function countStart(task: string, { limits, spawns, ask }: BudgetAbove): Promise<void> {
  if (limits.maxSpawns === undefined) return;
  const reply = await ask({ what: "count", kind: "maxSpawns" }, AbortSignal.timeout(REPORT_MS));
  if (reply ? !reply.refusal : spawns !== 0) return;
  throw new CrewError(
    "TOO_MANY_RUNS",
    `The run of the task ${task}, which started this run, has reached its limit of ${limits.maxSpawns} agents.`,
    "Raise --max-spawns of that run, or start this run outside of it.",
  );
}

/** Tells the parent run something; nothing happens if it is not in this store, or has ended. */
async function tell(store: RunStore, above: RunAbove, what: (path: string) => RunCommand): Promise<void> {
  const [run, path] = placeOf(above);
  const options = { waitMs: REPORT_MS, signal: AbortSignal.timeout(REPORT_MS) };
  await keptRuns(store)
    .tell(run, what(path), options)
    .catch(() => {});
}

/** The run id and the task path of a task written as `run/path`. */
function placeOf({ task }: RunAbove): readonly [run: string, path: string] {
  const at = task.indexOf("/");
  return at < 0 ? [task, ""] : [task.slice(0, at), task.slice(at + 1)];
}

/** A budget that also reserves every amount from the budget of the parent run. */
type BorrowedBudget = Readonly<{
  budget: Budget;
  /** To be called when the parent run takes back an amount that it had reserved for this run. */
  revoke(id: string): void;
  /** Resolves when all amounts that were spent are reported to the parent run. */
  settled(): Promise<void>;
}>;

/**
 * Enforces the limits of the parent run (one of its tasks started this run) exactly, however many nested runs work at
 * once.
 */
export function borrowBudget(own: Budget, { limits, ask }: Pick<BudgetAbove, "limits" | "ask">): BorrowedBudget {
  const spends = limits.maxUsd !== undefined || limits.maxTokens !== undefined;
  const revokes = new Map<string, () => void>();
  const settling = new Set<Promise<unknown>>();
  const settle = (id: string, actual: Amount): void => {
    revokes.delete(id);
    const told = ask({ what: "settle", id, actual }, NEVER).catch(() => undefined);
    settling.add(told);
    void told.finally(() => settling.delete(told));
  };
  const reserve: Budget["reserve"] = async (wish, revoke, signal) => {
    const held = await own.reserve(wish, revoke, signal);
    if ("refused" in held) return held;
    const id = randomUUID();
    revokes.set(id, revoke);
    const { tokens, usd, finish, cut } = wish;
    const asked = {
      tokens,
      ...defined({ usd, finish, cut: cut && { tokens: cut.tokens, ...defined({ usd: cut.usd }) } }),
    };
    const reply = await ask({ what: "reserve", id, wish: asked }, signal);
    if (reply?.refusal) {
      revokes.delete(id);
      held.release();
      return reply.refusal;
    }
    return {
      settle: (actual) => {
        settle(id, actual);
        held.settle(actual);
      },
      release: () => {
        settle(id, { tokens: 0 });
        held.release();
      },
    };
  };
  return {
    budget: {
      ...own,
      reserve: spends ? reserve : own.reserve,
      count: async (kind) => {
        const refused = await own.count(kind);
        if (refused || limits[kind] === undefined) return refused;
        return (await ask({ what: "count", kind }, NEVER))?.refusal;
      },
      room: async () => {
        const room = await own.room();
        if (limits.maxTokens === undefined) return room;
        const above = (await ask({ what: "room" }, NEVER))?.room;
        return room === undefined || above === undefined ? (room ?? above) : Math.min(room, above);
      },
    },
    revoke: (id) => revokes.get(id)?.(),
    settled: async () => {
      await Promise.all(settling);
    },
  };
}

const NEVER = new AbortController().signal;
