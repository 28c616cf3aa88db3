import { z } from "zod";
import { faultCodes } from "../core/outcome/outcome.ts";

const count = z.number().int().nonnegative();

export const usageSchema = z.strictObject({
  input: count.describe("input tokens, without those read from a cache"),
  output: count.describe("output tokens"),
  cacheRead: count.describe("input tokens read from a cache"),
  cacheWrite: count.describe("input tokens written to a cache"),
  reasoning: count.describe("output tokens used for thinking; part of output"),
  contextTokens: count.describe("size of the conversation at the last turn"),
  turns: count.describe("model turns"),
  estimated: z.number().optional().describe("estimated tokens of turns that were cut off, counted apart"),
});

export const costSchema = z.strictObject({
  usd: z.number().describe("dollars"),
  unpriced: count.describe("turns whose price is unknown; they do not count as free"),
  estimated: z.number().optional().describe("estimated dollars of turns that were cut off, counted apart"),
  saved: z.number().optional().describe("dollars that caches of providers saved"),
});

export const faultSchema = z.strictObject({
  code: z.enum(faultCodes).describe("the stable code; see the list of error codes"),
  message: z.string().describe("the failure in one sentence"),
  hint: z.string().optional().describe("what a person can do about it"),
  retryable: z.boolean().describe("whether another attempt may succeed"),
  retryAfterMs: z.number().optional().describe("how long the provider or server asked to wait, in milliseconds"),
});

export const reachedLimitSchema = z.strictObject({
  kind: z.enum(["turns", "time", "usd", "tokens", "toolCalls", "spawns"]),
  value: z.number().describe("the limit; time in milliseconds"),
  run: z.literal(true).optional().describe("true: a limit of the whole run"),
  cap: z.enum(["day", "project"]).optional().describe("a spending cap for all runs of a day or of a project"),
});

const artifact = z.strictObject({ hash: z.string(), bytes: count });

const changes = z.strictObject({
  files: z.array(z.string()),
  applied: z.boolean().describe("whether the patch was applied to the workspace"),
  patch: artifact.describe("the patch, as the store of the run has it"),
  conflicts: z
    .array(z.string())
    .optional()
    .describe("files that conflicted, so that the patch was not applied to them"),
  versions: z.record(z.string(), artifact).optional().describe("the task's version of each conflicting file"),
});

const spending = {
  usage: usageSchema.optional().describe("tokens that were used"),
  cost: costSchema.optional().describe("money that was spent"),
  model: z.string().optional().describe("the model that answered"),
  tools: z.record(z.string(), count).optional().describe("how often each tool was used"),
  ms: z.number().optional().describe("how long the task took, in milliseconds"),
  artifact: artifact.optional().describe("the full output, unshortened, as it is stored with the run"),
  summaryChars: z
    .number()
    .optional()
    .describe("how many characters of the output the agent that started the task reads"),
  summaryCut: z
    .enum(["simple", "smart"])
    .optional()
    .describe(
      "how the excerpt for that agent is cut: after exactly that many characters (simple), or after a paragraph or sentence (smart)",
    ),
  limit: reachedLimitSchema.optional().describe("the limit that ended the task early"),
  changes: changes.optional().describe("changes in a worktree"),
  approved: z.boolean().optional().describe("false: the work was accepted without approval"),
  reviews: z
    .array(z.strictObject({ approved: z.boolean(), feedback: z.string() }))
    .optional()
    .describe("the reviewer's verdict in each round"),
};

/** How a node ended, as a schema; the type `Outcome` is checked against it. */
export const outcomeSchema = z.discriminatedUnion("status", [
  z.strictObject({
    ...spending,
    status: z.literal("ok"),
    output: z.string().describe("the answer as text"),
    data: z.unknown().optional().describe("the answer as a JSON value, if a schema was given"),
    from: z.array(z.string()).optional().describe("nodes whose output is passed on"),
  }),
  z.strictObject({
    ...spending,
    status: z.literal("failed"),
    fault: faultSchema,
    output: z.string().optional().describe("the part of the answer that exists"),
    data: z.unknown().optional(),
  }),
  z.strictObject({
    ...spending,
    status: z.literal("cancelled"),
    reason: z.string(),
    output: z.string().optional().describe("the part of the answer that exists"),
    final: z.literal(true).optional().describe("cancelled by name: `resume` does not start the task again"),
  }),
  z.strictObject({
    ...spending,
    status: z.literal("skipped"),
    because: z.string().describe("the node that did not succeed"),
  }),
]);
