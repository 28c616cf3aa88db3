import { join } from "node:path";
import { limitText, type ReachedLimit } from "../../core/outcome/reached-limit.ts";
import type { Amount, Budget, BudgetRefusal } from "../../core/run/budget.ts";
import {
  capReached,
  capRoom,
  capsMoney,
  type SpendingCaps,
  type SpendingLedger,
} from "../../core/run/spending-caps.ts";
import { pause } from "../async/cancel.ts";
import type { Feature } from "./feature.ts";
import { openSpendingLedger } from "../ledgers/spending-ledger.ts";

export const spendingCapsFeature: Feature = {
  name: "spending caps",
  does: "enforces the caps of the settings for all runs of the day and of the project together",
  open: ({ settings, home, cwd, clock }) => {
    const caps = settings?.spending;
    if (!caps || home === undefined) return {};
    const ledger = openSpendingLedger(join(home, "spending"), { project: cwd, clock });
    return { scope: ({ budget }) => ({ budget: capSpending(budget, { caps, ledger, clock }) }) };
  },
};

/** The spending caps for all runs together, and the record of what all processes spend. */
type CappedSpending = Readonly<{ caps: SpendingCaps; ledger: SpendingLedger; clock(): number }>;

/** The share of a cap that is kept for the last turns of tasks, in which they return their results. */
const KEPT_BACK = 0.05;
/** How often a model call that waits for other calls to be settled is checked again. */
const LOOK_EVERY_MS = 200;

/** A budget that also enforces the spending caps for all runs: a reached cap acts like a limit of the run. */
function capSpending(budget: Budget, { caps, ledger, clock }: CappedSpending): Budget {
  const refusal = (limit: ReachedLimit): BudgetRefusal => ({
    refused: `the request does not fit in the limit of ${limitText(limit)}`,
    limit,
    ...(limit.cap === "day" && { until: nextDay(clock()) }),
  });
  return {
    ...budget,
    reserve: async (wish, revoke, signal) => {
      const { tokens, usd, finish = false, cut = { tokens: 0 } } = wish;
      if (usd === undefined && capsMoney(caps))
        return {
          refused: "the price of this model is unknown, so a cap in dollars cannot be enforced",
          unpriced: true,
        };
      const held = await budget.reserve(wish, revoke, signal);
      if ("refused" in held) return held;
      const amount = { tokens, usd: usd ?? 0 };
      for (;;) {
        const entry = await ledger.reserve(
          { amount, cut: whole(cut) },
          (spending) => capReached(caps, spending, { ...amount, share: finish ? 1 : 1 - KEPT_BACK }),
          signal,
        );
        if (entry === "wait") {
          if (await pause(LOOK_EVERY_MS, signal)) continue;
          return held; // the run is being stopped and will not make the request
        }
        if (!("settle" in entry)) {
          held.release();
          return refusal(entry);
        }
        return {
          settle: (actual) => {
            entry.settle(whole(actual));
            held.settle(actual);
          },
          release: () => {
            entry.settle(whole({ tokens: 0 }));
            held.release();
          },
        };
      }
    },
    room: async () => {
      const rooms = [await budget.room(), capRoom(caps, await ledger.look(), 1 - KEPT_BACK)].filter(
        (room) => room !== undefined,
      );
      return rooms.length === 0 ? undefined : Math.min(...rooms);
    },
  };
}

const whole = ({ tokens, usd = 0 }: Amount): Required<Amount> => ({ tokens, usd });

/** The next midnight, when the daily cap starts again. */
function nextDay(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}
