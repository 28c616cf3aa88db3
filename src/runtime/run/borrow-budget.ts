import { randomUUID } from "node:crypto";
import type { Amount, Budget, BudgetLimits } from "../../core/run/budget.ts";
import type { BudgetReply, BudgetRequest } from "../../core/run/budget-request.ts";
import { defined } from "../../core/text/defined.ts";

/** The budget of the parent run, that is, of the run with the task whose program started this run. */
export type BudgetAbove = Readonly<{
  limits: BudgetLimits;
  /**
   * Sends a request to the parent run. `undefined`: no process works on that run, so only this run's own limits apply.
   */
  ask(request: BudgetRequest, signal: AbortSignal): Promise<BudgetReply | undefined>;
}>;

/** A budget that also reserves every amount from the budget of the parent run. */
export type BorrowedBudget = Readonly<{
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
export function borrowBudget(own: Budget, { limits, ask }: BudgetAbove): BorrowedBudget {
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
