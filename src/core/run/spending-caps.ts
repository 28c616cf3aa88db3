import { z } from "zod";
import type { ReachedLimit } from "../outcome/reached-limit.ts";
import type { Amount } from "./budget.ts";

const amounts = z.strictObject({
  maxUsd: z.number().positive().optional().describe("dollars"),
  maxTokens: z.number().int().positive().optional().describe("input and output tokens together"),
});

/** Spending limits for all runs together, across processes. */
export const spendingCaps = z.strictObject({
  perDay: amounts.optional().describe("limit for all runs of a day, in every project"),
  perProject: amounts.optional().describe("limit for all runs in one project, counted from the day it is set"),
});
export type SpendingCaps = Readonly<z.infer<typeof spendingCaps>>;

/** The amounts that all processes together have spent and reserved: today, and in the project. */
export type SharedSpending = Readonly<
  Record<"day" | "project", Readonly<{ spent: Required<Amount>; open: Required<Amount> }>>
>;

/**
 * Whether a model call fits the caps: `undefined` when it does, `"wait"` when it fits once other calls are settled,
 * else the cap that it exceeds.
 */
export function capReached(
  { perDay, perProject }: SpendingCaps,
  { day, project }: SharedSpending,
  { tokens, usd = 0, share }: Amount & Readonly<{ share: number }>,
): ReachedLimit | "wait" | undefined {
  let waits = false;
  for (const [cap, limits, used] of [
    ["day", perDay, day],
    ["project", perProject, project],
  ] as const)
    for (const [kind, value, more] of [
      ["usd", limits?.maxUsd, usd],
      ["tokens", limits?.maxTokens, tokens],
    ] as const) {
      if (value === undefined) continue;
      if (used.spent[kind] + more > value * share) return { kind, value, run: true, cap };
      waits ||= used.spent[kind] + used.open[kind] + more > value * share;
    }
  return waits ? "wait" : undefined;
}

/** The largest model call that the caps still allow, in tokens; `undefined`: there is no cap. */
export function capRoom(
  { perDay, perProject }: SpendingCaps,
  { day, project }: SharedSpending,
  share: number,
): number | undefined {
  const rooms = [[perDay, day] as const, [perProject, project] as const].flatMap(([limits, { spent, open }]) =>
    limits?.maxTokens === undefined
      ? []
      : [Math.max(0, Math.floor(limits.maxTokens * share) - spent.tokens - open.tokens)],
  );
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

/** True when a cap in dollars is set, so that prices have to be known. */
export const capsMoney = ({ perDay, perProject }: SpendingCaps): boolean =>
  perDay?.maxUsd !== undefined || perProject?.maxUsd !== undefined;

/**
 * A reservation for one model call. It is settled in the record of spending (the ledger) before the turn is recorded,
 * so that no recorded turn is missing in the ledger.
 */
export type LedgerEntry = Readonly<{ settle(actual: Required<Amount>): void }>;

/** Records what all processes of a user spend. */
export type SpendingLedger = Readonly<{
  look(): Promise<SharedSpending>;
  /**
   * Reserves an amount for a model call unless `fits` rejects the current total; other processes cannot reserve
   * meanwhile.
   */
  reserve<T>(
    wish: Readonly<{ amount: Required<Amount>; cut: Required<Amount> }>,
    fits: (spending: SharedSpending) => T | undefined,
    signal: AbortSignal,
  ): Promise<LedgerEntry | T>;
}>;
