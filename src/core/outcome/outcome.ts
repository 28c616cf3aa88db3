import { z } from "zod";
import { list } from "../schema/recorded.ts";
import { defined } from "../text/defined.ts";
import { addCount } from "../text/json.ts";
import { showsNothing } from "../text/sanitize.ts";
import { artifact } from "./artifact.ts";
import { reachedLimit } from "./reached-limit.ts";
import { addCost, addUsage, cost, noCost, noUsage, usage } from "./usage.ts";
import { worktreeChanges } from "./worktree-changes.ts";

/** Failure codes of nodes, with the exit code of a run that fails with them. */
const faultExits = {
  CRASHED: 1,
  /** The task failed because no worker of the engine can execute it. */
  NO_WORKER: 1,
  SOME_FAILED: 1,
  ALL_FAILED: 1,
  MARKED_FAILED: 1,
  NOT_ACCEPTED: 1,
  NOT_APPROVED: 1,
  CONFLICT: 1,
  AGENT_REPORTED: 1,
  STUCK: 1,
  DRIFT: 1,
  MODEL_AUTH: 1,
  MODEL_RATE_LIMIT: 1,
  MODEL_OVERLOADED: 1,
  MODEL_CONTEXT: 1,
  MODEL_REFUSED: 1,
  MODEL_NETWORK: 1,
  MODEL_BAD_ANSWER: 1,
  MODEL_UNKNOWN: 1,
  REMOTE_AUTH: 1,
  REMOTE_BUSY: 1,
  REMOTE_CARD: 1,
  REMOTE_FAILED: 1,
  REMOTE_LOST: 1,
  REMOTE_NETWORK: 1,
  REMOTE_REFUSED: 1,
  BAD_INPUTS: 2,
  UNSUPPORTED: 2,
  DENIED: 3,
  REJECTED: 3,
  NEEDS_ANSWER: 3,
  TIMEOUT: 4,
  MAX_TURNS: 4,
  MAX_TOOL_CALLS: 4,
  BUDGET: 4,
  MEMORY: 4,
  CPU: 4,
  INVALID_OUTPUT: 5,
  EMPTY: 5,
} as const;

export type FaultCode = keyof typeof faultExits;
export const faultCodes: readonly FaultCode[] = Object.keys(faultExits) as FaultCode[];

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

/** The sum of what nodes spent; the model is that of the first node with one. */
export function sumSpent(outcomes: readonly Outcome[]): Spending {
  const used = outcomes.flatMap(({ usage, cost }) => (usage ? [{ usage, cost }] : []));
  if (used.length === 0) return {};
  const tools: Record<string, number> = {};
  for (const outcome of outcomes)
    for (const [tool, count] of Object.entries(outcome.tools ?? {})) addCount(tools, tool, count);
  return {
    usage: used.reduce((sum, { usage }) => addUsage(sum, usage), noUsage()),
    cost: used.reduce((sum, { cost }) => (cost ? addCost(sum, cost) : sum), noCost()),
    ms: outcomes.reduce((sum, { ms = 0 }) => sum + ms, 0),
    ...(Object.keys(tools).length > 0 && { tools }),
    ...defined({ model: outcomes.find(({ model }) => model !== undefined)?.model }),
  };
}

/** An outcome for a reader on this machine: `file` is a local file with the full output. */
export type ReadOutcome = Outcome & Readonly<{ file?: string }>;

export type FailedOutcome = Extract<Outcome, { status: "failed" }>;

/** Creates a failed outcome. */
export function failed(
  code: FaultCode,
  message: string,
  more: Partial<Omit<Fault, "code" | "message">> = {},
): FailedOutcome {
  return { status: "failed", fault: { code, message, retryable: false, ...more } };
}

/** A failure or cancellation with the work done so far. */
export function withPartial(outcome: Extract<Outcome, { status: "failed" | "cancelled" }>, text: string): Outcome {
  return text === "" ? outcome : { ...outcome, output: text };
}

/** Codes of failures that a retry cannot fix, such as refusals. */
const final: ReadonlySet<FaultCode> = new Set([
  "DENIED",
  "REJECTED",
  "NEEDS_ANSWER",
  "BUDGET",
  "MARKED_FAILED",
  "CONFLICT",
  "BAD_INPUTS",
  "UNSUPPORTED",
  "MODEL_AUTH",
  "MODEL_UNKNOWN",
  "REMOTE_AUTH",
  "REMOTE_CARD",
  "REMOTE_LOST",
  "REMOTE_REFUSED",
]);

/** False for permanent failures, including permanent refusals of a provider. */
export function canRetry({ code, retryable }: Fault): boolean {
  return !final.has(code) && (retryable || !code.startsWith("MODEL_"));
}

/** The outcome as one line of text for a person. */
export function explain(outcome: Outcome): string {
  switch (outcome.status) {
    case "ok":
      return outcome.output;
    case "failed":
      return outcome.fault.message;
    case "cancelled":
      return /^cancelled\b/.test(outcome.reason) ? outcome.reason : `cancelled: ${outcome.reason}`;
    case "skipped":
      return `skipped because ${outcome.because} did not succeed`;
  }
}

/** The full output of a node; for a node without output, how it ended, and the hint. */
export function outputText(outcome: Outcome): string {
  const output = "output" in outcome ? outcome.output : undefined;
  return output === undefined || showsNothing(output) ? endingText(outcome) : output;
}

function endingText(outcome: Outcome): string {
  const hint = outcome.status === "failed" ? outcome.fault.hint : undefined;
  const said = explain(outcome);
  return `${said.startsWith(outcome.status) ? said : `${outcome.status}: ${said}`}${hint === undefined ? "" : `\n${hint}`}`;
}

/** The exit code of a command whose run had this outcome. */
export function exitCodeOf(outcome: Outcome): number {
  switch (outcome.status) {
    case "ok":
      return 0;
    case "failed":
      return faultExits[outcome.fault.code] ?? 1;
    case "cancelled":
      return 130;
    case "skipped":
      return 1;
  }
}

/** True for an outcome (skipped or cancelled) that is decided again when the run is resumed. */
export const isUndecided = (outcome: Outcome): boolean =>
  outcome.status === "skipped" || (outcome.status === "cancelled" && outcome.final !== true);
