import { z } from "zod";
import { limitText, type ReachedLimit } from "../outcome/reached-limit.ts";
import type { Exact } from "../text/defined.ts";

const count = z.number().int().positive();

/** The limits on what a run and all its nested runs may spend. */
export const budgetLimits = z.strictObject({
  maxUsd: z.number().positive().optional().describe("dollars"),
  maxTokens: count.optional().describe("input and output tokens together"),
  maxTurns: count.optional().describe("model turns"),
  maxToolCalls: count.optional().describe("tool calls"),
  maxSpawns: count.optional().describe("tasks that agents may start"),
});

export type BudgetLimits = Readonly<Exact<z.infer<typeof budgetLimits>>>;

/** Tokens and cost of a model call: an estimate before it, the actual value after it. */
export type Amount = Readonly<{
  tokens: number;
  /** The cost in dollars; absent: the price is unknown. */
  usd?: number;
}>;

/** Tokens and cost reserved for a running model call, until it is settled or released. */
export type Reservation = Readonly<{ settle(actual: Amount): void; release(): void }>;

/** Why a model call may not start: an exhausted limit, or an unknown price. */
export type BudgetRefusal = Readonly<{
  refused: string;
  /** When the limit allows model calls again, without any action of a person. */
  until?: number;
}> &
  (Readonly<{ limit: ReachedLimit }> | Readonly<{ unpriced: true }>);

/**
 * The budget that all tasks of a run share. The cost of a model call is reserved before the call and settled after it,
 * so that parallel calls cannot exceed the budget together. A call that would fit once other calls are settled waits
 * for them. A call that costs more than reserved takes the excess from calls that are still running: the newest are
 * revoked until the rest fits.
 */
export type Budget = Readonly<{
  /**
   * Reserves the cost of a model call. `finish`: the call is the last turn of a task at its limit, which may use the
   * share kept for such turns. `revoke` is called when the call has to stop.
   */
  reserve(
    wish: Amount & {
      readonly finish?: boolean;
      /** Estimated cost to count if the process dies before the call is settled. */
      readonly cut?: Amount;
    },
    revoke: () => void,
    signal: AbortSignal,
  ): Promise<Reservation | BudgetRefusal>;
  count(what: "maxTurns" | "maxToolCalls" | "maxSpawns"): Promise<BudgetRefusal | undefined>;
  /** Counts what other processes used; running calls that no longer fit are revoked. */
  charge(used: BudgetSpent): void;
  /** The largest answer that still fits, in tokens; undefined: no limit. */
  room(): Promise<number | undefined>;
  spent(): Readonly<{ tokens: number; usd: number }>;
  /**
   * Allows only final turns from now on, such as when the run's time is up; running turns are revoked or may finish.
   */
  close(limit: ReachedLimit, options?: Readonly<{ revoke: boolean }>): void;
}>;

const kinds: Readonly<Record<keyof BudgetLimits, ReachedLimit["kind"]>> = {
  maxUsd: "usd",
  maxTokens: "tokens",
  maxTurns: "turns",
  maxToolCalls: "toolCalls",
  maxSpawns: "spawns",
};

/** The share of a budget reserved for the last turns of tasks, so that they can still return a result. */
const KEPT_BACK = 0.05;

/** How much of its limits a run has used. */
export type BudgetSpent = Readonly<
  { tokens: number; usd: number } & Record<"maxTurns" | "maxToolCalls" | "maxSpawns", number>
>;

const NOTHING_SPENT: BudgetSpent = { tokens: 0, usd: 0, maxTurns: 0, maxToolCalls: 0, maxSpawns: 0 };

/** Creates the budget of a run, of which `used` is already spent. */
export function createBudget(limits: BudgetLimits, used: BudgetSpent = NOTHING_SPENT): Budget {
  const { tokens: usedTokens, usd: usedUsd, ...usedCounts } = used;
  const counts = { ...usedCounts };
  const open = new Set<OpenReservation>();
  const spent = { tokens: usedTokens, usd: usedUsd };
  let closed: ReachedLimit | undefined;
  const reserved = { tokens: 0, usd: 0 };
  let waiting: (() => void)[] = [];
  const over = (kind: "tokens" | "usd", more: number, { share = 1, others = true } = {}): boolean => {
    const limit = kind === "tokens" ? limits.maxTokens : limits.maxUsd;
    return limit !== undefined && spent[kind] + (others ? reserved[kind] : 0) + more > limit * share;
  };
  const no = (limit: keyof BudgetLimits, refused: string): BudgetRefusal => ({
    refused,
    limit: { kind: kinds[limit], value: limits[limit] ?? 0, run: true },
  });
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  };
  const drop = (entry: OpenReservation): void => {
    if (!open.delete(entry)) return;
    reserved.tokens -= entry.tokens;
    reserved.usd -= entry.usd;
  };
  const revokeYoungest = (): void => {
    for (const young of [...open].toReversed()) {
      if (!over("tokens", 0) && !over("usd", 0)) return;
      drop(young);
      young.revoke();
    }
  };
  return {
    reserve: async ({ tokens, usd, finish = false }, revoke, signal) => {
      const share = finish ? 1 : 1 - KEPT_BACK;
      if (limits.maxUsd !== undefined && usd === undefined) {
        return {
          refused: "the price of this model is unknown, so a limit in dollars cannot be enforced",
          unpriced: true,
        };
      }
      for (;;) {
        if (closed && !finish) return { refused: `the run reached its limit of ${limitText(closed)}`, limit: closed };
        if (over("tokens", tokens, { share, others: false }))
          return no("maxTokens", `the request would exceed the limit of ${limits.maxTokens} tokens`);
        if (over("usd", usd ?? 0, { share, others: false }))
          return no("maxUsd", `the request would exceed the limit of $${limits.maxUsd}`);
        if (signal.aborted || (!over("tokens", tokens, { share }) && !over("usd", usd ?? 0, { share }))) break;
        await new Promise<void>((resolve) => {
          const resume = (): void => {
            signal.removeEventListener("abort", resume);
            resolve();
          };
          waiting.push(resume);
          signal.addEventListener("abort", resume, { once: true });
        });
      }
      const entry = { tokens, usd: usd ?? 0, revoke, finish };
      open.add(entry);
      reserved.tokens += entry.tokens;
      reserved.usd += entry.usd;
      return {
        release: () => {
          drop(entry);
          wake();
        },
        settle: (actual) => {
          drop(entry);
          spent.tokens += actual.tokens;
          spent.usd += actual.usd ?? 0;
          // The list of running calls is copied only when one of them has to be revoked: copying it for each of a
          // thousand calls would take quadratic time.
          if (over("tokens", 0) || over("usd", 0)) revokeYoungest();
          wake();
        },
      };
    },
    count: async (what) => {
      const limit = limits[what];
      if (closed && what !== "maxToolCalls")
        return { refused: `the run reached its limit of ${limitText(closed)}`, limit: closed };
      if (limit !== undefined && counts[what] >= limit)
        return no(what, `the run is limited to ${limit} ${NAMES[what]}`);
      counts[what] += 1;
      return undefined;
    },
    charge: ({ tokens, usd, ...more }) => {
      spent.tokens += tokens;
      spent.usd += usd;
      for (const what of ["maxTurns", "maxToolCalls", "maxSpawns"] as const) counts[what] += more[what];
      if (over("tokens", 0) || over("usd", 0)) revokeYoungest();
      wake();
    },
    room: async () =>
      limits.maxTokens === undefined ? undefined : Math.max(0, limits.maxTokens - spent.tokens - reserved.tokens),
    spent: () => ({ ...spent }),
    close: (limit, { revoke } = { revoke: true }) => {
      closed = limit;
      for (const entry of revoke ? [...open] : []) {
        if (entry.finish) continue;
        drop(entry);
        entry.revoke();
      }
      wake();
    },
  };
}

type OpenReservation = Readonly<{ tokens: number; usd: number; finish: boolean; revoke(): void }>;

const NAMES = {
  maxTurns: "turns in all",
  maxToolCalls: "tool calls in all",
  maxSpawns: "agents started by agents",
} as const;
