import { z } from "zod";
import { answer } from "../plan/gate.ts";
import { change } from "../schedule/change.ts";
import { type BudgetReply, budgetRequest } from "./budget-request.ts";
import { belowSpent } from "./run-below.ts";

/** Commands to a run from other processes. */
export const command = z.discriminatedUnion("do", [
  z.strictObject({
    do: z.literal("answer"),
    path: z.string(),
    answer,
    /** The call that the question is about. */
    call: z.string().optional(),
    /** The question as it was shown: an answer to another one does not count. */
    question: z.string().optional(),
  }),
  z.strictObject({
    do: z.literal("send"),
    path: z.string(),
    text: z.string(),
    from: z.string(),
    how: z.enum(["steer", "interrupt"]).optional(),
  }),
  /** Without a path, the whole run. A run or task that is paused can be resumed; one that is cancelled cannot. */
  z.strictObject({ do: z.literal("pause"), reason: z.string(), path: z.string().optional() }),
  z.strictObject({ do: z.literal("cancel"), reason: z.string(), path: z.string().optional() }),
  /** Lets a task go on that alone is paused; without a path, all of them. `retryFailed`: one that failed is tried again. */
  z.strictObject({ do: z.literal("resume"), path: z.string().optional(), retryFailed: z.boolean().optional() }),
  /** Ends the work on the run at once and records no end, as a kill of its process does. Holds for that process only. */
  z.strictObject({ do: z.literal("kill"), pid: z.number() }),
  /** A run that a program of this task started tells what it used. */
  z.strictObject({ do: z.literal("charge"), path: z.string(), spent: belowSpent }),
  /** A run that a program of this task started asks for a part of the budget. */
  z.strictObject({ do: z.literal("budget"), path: z.string(), below: z.string(), request: budgetRequest }),
  /** The run above takes a reservation back. */
  z.strictObject({ do: z.literal("revoke"), reservation: z.string() }),
  /** Changes the plan: new nodes, other dependencies, nodes given up. */
  z.strictObject({ do: z.literal("change"), change }),
]);
export type RunCommand = z.infer<typeof command>;

/** The receipt of a command. */
export type Receipt = Readonly<{ done: boolean; text: string; budget?: BudgetReply }>;
