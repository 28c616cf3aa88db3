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
    /** The tool call that the question is about. */
    call: z.string().optional(),
    /** The question as it was shown to the person: an answer to another question has no effect. */
    question: z.string().optional(),
  }),
  z.strictObject({
    do: z.literal("send"),
    path: z.string(),
    text: z.string(),
    from: z.string(),
    how: z.enum(["steer", "interrupt"]).optional(),
  }),
  /** Pauses the run, which can be resumed; a cancelled run cannot. With a path, the command is refused. */
  z.strictObject({ do: z.literal("pause"), reason: z.string(), path: z.string().optional() }),
  z.strictObject({ do: z.literal("cancel"), reason: z.string(), path: z.string().optional() }),
  /** Retries a task that failed; without a path, all tasks that failed. */
  z.strictObject({ do: z.literal("retry"), path: z.string().optional() }),
  /**
   * Stops work on the run at once without recording an end, as if its process were killed. Applies only to the process
   * `pid`.
   */
  z.strictObject({ do: z.literal("kill"), pid: z.number() }),
  /** A nested run that a program of this task started reports its usage. */
  z.strictObject({ do: z.literal("charge"), path: z.string(), spent: belowSpent }),
  /** A nested run that a program of this task started requests a part of the budget. */
  z.strictObject({ do: z.literal("budget"), path: z.string(), below: z.string(), request: budgetRequest }),
  /** The parent run takes back a reservation that it granted to the nested run. */
  z.strictObject({ do: z.literal("revoke"), reservation: z.string() }),
  /** Changes the plan: new nodes, other dependencies, cancelled nodes. */
  z.strictObject({ do: z.literal("change"), change }),
]);
export type RunCommand = z.infer<typeof command>;

/** The refusal to pause one task of a run. */
export const onlyRunsPause = (run: string, path: string): string =>
  `A single task cannot be paused: \`subcrew cancel ${run}/${path}\` ends it for good, and \`subcrew stop ${run}\` pauses the whole run.`;

/** The reply to an action on a run, wherever the run is. */
export type Receipt = Readonly<{
  /** `queued`: the action takes effect when a process works on the run. */
  state: "done" | "queued" | "refused";
  code: ReceiptCode;
  text: string;
  budget?: BudgetReply;
}>;

/**
 * What a program can tell receipts apart by. `NO_REPLY`: the process of the run has not confirmed the action in time;
 * `MOVED`: another process works on the run now.
 */
export type ReceiptCode =
  | "DONE"
  | "QUEUED"
  | "BAD_ANSWER"
  | "BAD_CHANGE"
  | "BAD_COMMAND"
  | "ELSEWHERE"
  | "MOVED"
  | "NOT_ASKED"
  | "NOT_FAILED"
  | "NOT_RUNNING"
  | "NO_REPLY"
  | "ONLY_RUNS_PAUSE"
  | "OTHER_QUESTION"
  | "RUN_ENDED"
  | "TASK_ENDED"
  | "UNKNOWN_TASK";

export const doneWith = (text: string): Receipt => ({ state: "done", code: "DONE", text });
export const queued = (text: string): Receipt => ({ state: "queued", code: "QUEUED", text });
export const refusedWith = (code: Exclude<ReceiptCode, "DONE" | "QUEUED">, text: string): Receipt => ({
  state: "refused",
  code,
  text,
});
