import type { Amount, Reservation } from "../../core/run/budget.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import { cutTurn } from "../../core/run/cut-turn.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";

type Counted = "maxTurns" | "maxToolCalls" | "maxSpawns";

/** The limit against which each recorded event counts. */
const COUNTS: Readonly<Partial<Record<Fact["type"], Counted>>> = {
  "turn.ended": "maxTurns",
  "tool.started": "maxToolCalls",
};

/** The budget of one task across all workers that execute it in turn. */
export type CallBudget = Readonly<{
  /**
   * The context for the next worker. Everything that this worker records and counts is compared with everything that
   * was counted before.
   */
  context: PerformContext;
  /**
   * Called when a worker is lost. The unused part of its reservation passes to the next worker; the model turn that it
   * had begun is charged as an interrupted turn.
   */
  lose(): void;
}>;

/**
 * Keeps the budget of a run in agreement with its recorded events when workers die. If a turn or tool call
 * of a dead worker was counted but never recorded, the worker that takes over is not charged for it a second time.
 */
export function budgetThroughTakeovers(context: PerformContext): CallBudget {
  const open = { maxTurns: 0, maxToolCalls: 0, maxSpawns: 0 };
  const spare = { maxTurns: 0, maxToolCalls: 0, maxSpawns: 0 };
  const held = new Map<Reservation, Amount | undefined>();
  let begun = false;
  const budget: PerformContext["budget"] = {
    ...context.budget,
    count: async (what) => {
      if (spare[what] > 0) spare[what] -= 1;
      else {
        const refusal = await context.budget.count(what);
        if (refusal) return refusal;
      }
      open[what] += 1;
      return undefined;
    },
    reserve: async (wish, revoke, signal) => {
      const got = await context.budget.reserve(wish, revoke, signal);
      if ("refused" in got) return got;
      const entry: Reservation = {
        settle: (actual) => {
          if (held.delete(entry)) got.settle(actual);
        },
        release: () => {
          if (held.delete(entry)) got.release();
        },
      };
      held.set(entry, wish.cut);
      return entry;
    },
  };
  const emit = (fact: Fact): void => {
    const what = COUNTS[fact.type];
    if (what && open[what] > 0) open[what] -= 1;
    if (fact.type === "turn.started") begun = true;
    else if (fact.type === "turn.ended" || fact.type === "turn.restarted") begun = false;
    context.emit(fact);
  };
  return {
    context: taskContext(context, { takeovers: () => ({ budget, emit }) }),
    lose: () => {
      for (const what of ["maxTurns", "maxToolCalls"] as const) {
        spare[what] += open[what];
        open[what] = 0;
      }
      const cuts = [...held];
      for (const [entry, cut] of cuts) {
        if (begun && cut) entry.settle(cut);
        else entry.release();
      }
      begun = false;
    },
  };
}

/**
 * Counts an event of an earlier worker that no process has counted, because it was recorded after the run's state was
 * read.
 */
export async function countLeftover(fact: Fact, context: PerformContext, past: readonly KeptEvent[]): Promise<void> {
  const what = COUNTS[fact.type];
  const isLast = past.some((event) => event.type === "limit.reached" && event.enforced); // the last turn of a task at its limit is not counted
  if (what && !(isLast && what === "maxTurns")) await context.budget.count(what);
  if (fact.type !== "turn.ended") return;
  const { input, output, cacheRead, cacheWrite } = fact.usage;
  const estimate = cutTurnOf(past, fact.turn);
  const held = await context.budget.reserve({ tokens: 0, usd: 0 }, () => {}, context.signal);
  if ("refused" in held) return;
  held.settle({
    tokens: input + output + cacheRead + cacheWrite - estimate.tokens,
    usd: fact.cost.usd - (estimate.usd ?? 0),
  });
}

/** The amount that the run's state has counted for a model turn that did not end. */
function cutTurnOf(past: readonly KeptEvent[], turn: number): Amount {
  const begun = past.findLast((event) => event.type === "turn.started" && event.turn === turn);
  const isOver = past.some(
    (event) => (event.type === "turn.ended" || event.type === "turn.restarted") && event.turn === turn,
  );
  if (begun?.type !== "turn.started" || isOver) return { tokens: 0 };
  const { usage, cost } = cutTurn({ reserved: begun.reserved, chars: 0 });
  return { tokens: usage.estimated ?? 0, usd: cost.estimated ?? 0 };
}
