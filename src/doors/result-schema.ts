import { z } from "zod";
import { cost, outcome, outcomeFault, reachedLimit, usage } from "../core/outcome/outcome-schema.ts";
import type { Result } from "../core/run/result.ts";

const text = z.string();

/** The result of a run, as `-o json` prints it and `await run` gives it. */
export const resultSchema = z.strictObject({
  id: text.describe("the id of the run"),
  status: z.enum(["ok", "failed", "cancelled", "paused"]),
  output: text.describe("the answer as text, or the part of it that exists"),
  data: z.unknown().optional().describe("the answer as a JSON value, if a schema was given"),
  from: z.array(text).optional().describe("the nodes whose output this is; for a race, the winner"),
  approved: z.boolean().optional().describe("false: the output contains work that was accepted without approval"),
  fault: outcomeFault.optional().describe("why the run failed"),
  limit: reachedLimit.optional().describe("the limit that ended the run early"),
  offline: z.literal(true).optional().describe("no key was found, so the offline model answered"),
  refused: z
    .array(
      z.strictObject({
        task: text.describe("the path of the task"),
        tool: text,
        target: text.describe("the path, the command or the address that the call is about"),
        rule: text.describe("the rule that refused it"),
        hint: text.optional().describe("what the user can do to allow the call"),
        unasked: z.literal(true).optional().describe("nobody could be asked"),
      }),
    )
    .optional()
    .describe("changes that were refused and not made later in the run"),
  usage: usage.describe("tokens that were used"),
  cost: cost.describe("money that was spent"),
  ms: z.number().describe("how long the run took, in milliseconds"),
  nodes: z.record(text, outcome).describe("how each node ended, by path"),
} satisfies Readonly<Record<keyof Result, z.ZodType>>);
