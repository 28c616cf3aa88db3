import { z } from "zod";
import type { BudgetRefusal } from "./budget.ts";

const amount = z.number().nonnegative();
const reservation = z.string().max(100);
const amounts = z.strictObject({ tokens: amount, usd: amount.optional() });

/**
 * A request of a nested run to use the budget of its parent run. A program that a task of the parent run started has
 * started the nested run.
 */
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

/** The reply of the parent run to a nested run; without a refusal, the request is granted. */
export type BudgetReply = Readonly<{ refusal?: BudgetRefusal; room?: number }>;
