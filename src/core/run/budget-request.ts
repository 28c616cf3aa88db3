import { z } from "zod";
import type { BudgetRefusal } from "./budget.ts";

const amount = z.number().nonnegative();
const reservation = z.string().max(100);
const amounts = z.strictObject({ tokens: amount, usd: amount.optional() });

/** What a run asks of the budget of the run above it, which a program of a task there started. */
export const budgetRequest = z.discriminatedUnion("what", [
  z.strictObject({
    what: z.literal("reserve"),
    id: reservation,
    wish: amounts.extend({ finish: z.boolean().optional(), cut: amounts.optional() }),
  }),
  z.strictObject({ what: z.literal("settle"), id: reservation, actual: amounts }),
  z.strictObject({ what: z.literal("count"), kind: z.enum(["maxTurns", "maxToolCalls", "maxSpawns"]) }),
  z.strictObject({ what: z.literal("room") }),
]);
export type BudgetRequest = Readonly<z.infer<typeof budgetRequest>>;

/** What the run above replies; nothing: it is granted. */
export type BudgetReply = Readonly<{ refusal?: BudgetRefusal; room?: number }>;
