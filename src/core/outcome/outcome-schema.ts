import { z } from "zod";
import { exact, list } from "../schema/recorded.ts";
import { artifact } from "./artifact.ts";
import { faultCodes } from "./fault-codes.ts";
import { worktreeChanges } from "./worktree-changes.ts";

const count = z.number().int().nonnegative();

export const usage = z.strictObject({
  input: count.describe("input tokens, without those read from a cache"),
  output: count.describe("output tokens"),
  cacheRead: count.describe("input tokens read from a cache"),
  cacheWrite: count.describe("input tokens written to a cache"),
  reasoning: count.describe("output tokens used for thinking; part of output"),
  contextTokens: count.describe("size of the conversation at the last turn"),
  turns: count.describe("model turns"),
  estimated: z.number().exactOptional().describe("estimated tokens of turns that were cut off, counted apart"),
});
/** Tokens and turns that were used. */
export type Usage = Readonly<z.infer<typeof usage>>;

export const cost = z.strictObject({
  usd: z.number().describe("dollars"),
  unpriced: count.describe("turns whose price is unknown; they do not count as free"),
  estimated: z.number().exactOptional().describe("estimated dollars of turns that were cut off, counted apart"),
  saved: z.number().exactOptional().describe("dollars that caches of providers saved"),
});
/** Money that was spent. */
export type Cost = Readonly<z.infer<typeof cost>>;

export const reachedLimit = z.strictObject({
  kind: exact(z.enum(["turns", "time", "usd", "tokens", "toolCalls", "spawns"])),
  value: z.number().describe("the limit; time in milliseconds"),
  run: z.literal(true).exactOptional().describe("true: a limit of the whole run"),
  cap: exact(z.enum(["day", "project"]))
    .exactOptional()
    .describe("a spending cap for all runs of a day or of a project"),
});
/** A limit that cut a task short, and its value; time in milliseconds. */
export type ReachedLimit = Readonly<z.infer<typeof reachedLimit>>;

const text = z.string();

export const outcomeFault = z.strictObject({
  code: z.enum(faultCodes).describe("the stable code; see the list of error codes"),
  message: text.describe("the failure in one sentence"),
  hint: text.exactOptional().describe("what a person can do about it"),
  retryable: z.boolean().describe("whether another attempt may succeed"),
  retryAfterMs: z.number().exactOptional().describe("how long the provider or server asked to wait, in milliseconds"),
});
export type Fault = Readonly<z.infer<typeof outcomeFault>>;

/** One round of a review: the verdict and the feedback of the reviewer. */
const reviewRound = z.strictObject({ approved: z.boolean(), feedback: text });
export type ReviewRound = Readonly<z.infer<typeof reviewRound>>;

const spending = {
  usage: usage.exactOptional().describe("tokens that were used"),
  cost: cost.exactOptional().describe("money that was spent"),
  model: text.exactOptional().describe("the model that answered"),
  tools: z.record(text, z.number().int().nonnegative()).exactOptional().describe("how often each tool was used"),
  ms: z.number().exactOptional().describe("how long the task took, in milliseconds"),
  artifact: artifact.exactOptional().describe("the full output, unshortened, as it is stored with the run"),
  summaryChars: z
    .number()
    .exactOptional()
    .describe("how many characters of the output the agent that started the task reads"),
  summaryCut: z
    .enum(["simple", "smart"])
    .exactOptional()
    .describe(
      "how the excerpt for that agent is cut: after exactly that many characters (simple), or after a paragraph or sentence (smart)",
    ),
  limit: reachedLimit.exactOptional().describe("the limit that ended the task early"),
  changes: worktreeChanges.exactOptional().describe("changes in a worktree"),
};

/** Reviews of a node's output; absent for a node without a review. */
const reviewed = {
  approved: z.boolean().exactOptional().describe("false: the work was accepted without approval"),
  reviews: list(reviewRound).exactOptional().describe("the reviewer's verdict in each round"),
};

/** What a node used, and the artifact that contains its output. */
export type Spending = Readonly<z.infer<z.ZodObject<typeof spending>>>;

export const outcome = z.discriminatedUnion("status", [
  z.strictObject({
    ...spending,
    ...reviewed,
    status: z.literal("ok"),
    output: text.describe("the answer as text"),
    data: z.unknown().exactOptional().describe("the answer as a JSON value, if a schema was given"),
    from: list(text).exactOptional().describe("nodes whose output is passed on"),
  }),
  z.strictObject({
    ...spending,
    ...reviewed,
    status: z.literal("failed"),
    fault: outcomeFault,
    output: text.exactOptional().describe("the part of the answer that exists"),
    data: z.unknown().exactOptional(),
  }),
  z.strictObject({
    ...spending,
    ...reviewed,
    status: z.literal("cancelled"),
    reason: text,
    output: text.exactOptional().describe("the part of the answer that exists"),
    final: z.literal(true).exactOptional().describe("cancelled by name: `resume` does not start the task again"),
  }),
  z.strictObject({
    ...spending,
    ...reviewed,
    status: z.literal("skipped"),
    because: text.describe("the node that did not succeed"),
  }),
]);
/** How a node ended. Each node has exactly one outcome; a failure carries the partial work. */
export type Outcome = Readonly<z.infer<typeof outcome>>;
