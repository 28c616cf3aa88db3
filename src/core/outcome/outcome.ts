import type { ReachedLimit } from "./reached-limit.ts";
import type { Cost, Usage } from "./usage.ts";
import type { Changes } from "./worktree-changes.ts";

/** What can go wrong while a node is carried out, and the exit code a run that failed of it ends with. */
const faultExits = {
  CRASHED: 1,
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

export type Fault = Readonly<{
  code: FaultCode;
  message: string;
  /** What a person can do about it. */
  hint?: string;
  retryable: boolean;
  /** How long the other side asked us to wait. */
  retryAfterMs?: number;
}>;

/** What carrying out a node cost, and where its whole output lies. */
export type Spending = Readonly<{
  usage?: Usage;
  cost?: Cost;
  model?: string;
  /** How often each tool was used. */
  tools?: Readonly<Record<string, number>>;
  ms?: number;
  /** The file with the full output. */
  file?: string;
  /** The limit at which it handed in what it had, or failed to. */
  limit?: ReachedLimit;
  /** What it changed in a worktree of its own, and what became of that. */
  changes?: Changes;
}>;

/** One round of a review: the verdict, and what the reviewer asked for. */
export type ReviewRound = Readonly<{ approved: boolean; feedback: string }>;

/** What reviewers or a person said about the work; absent for work that nobody was to judge. */
export type Reviewed = Readonly<{
  /** False: the work was taken although nobody approved it. */
  approved?: boolean;
  /** The verdict of each round. */
  reviews?: readonly ReviewRound[];
}>;

/** How a node ended. There is exactly one per node, and partial work travels with a failure. */
export type Outcome = Spending &
  Reviewed &
  (
    | Readonly<{
        status: "ok";
        output: string;
        data?: unknown;
        /** The nodes whose output a join or loop passes on. */
        from?: readonly string[];
      }>
    | Readonly<{ status: "failed"; fault: Fault; output?: string; data?: unknown }>
    | Readonly<{
        status: "cancelled";
        reason: string;
        output?: string;
        /** Somebody cancelled this very task: resuming the run does not begin it again. */
        final?: true;
      }>
    | Readonly<{ status: "skipped"; because: string }>
  );

export type FailedOutcome = Extract<Outcome, { status: "failed" }>;

/** A failed outcome in one call. */
export function failed(
  code: FaultCode,
  message: string,
  more: Partial<Omit<Fault, "code" | "message">> = {},
): FailedOutcome {
  return { status: "failed", fault: { code, message, retryable: false, ...more } };
}

/** A failure or cancellation together with the work that was done until then. */
export function withPartial(outcome: Extract<Outcome, { status: "failed" | "cancelled" }>, text: string): Outcome {
  return text === "" ? outcome : { ...outcome, output: text };
}

/** Faults that trying again cannot mend: somebody or something said no. */
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

/** False for a fault that would be the same again, and for what a provider refuses for good. */
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
      return `cancelled: ${outcome.reason}`;
    case "skipped":
      return `skipped because ${outcome.because} did not succeed`;
  }
}

/** What is kept of a node that has no output: how it ended, and what to do about it. */
export function endingText(outcome: Outcome): string {
  const hint = outcome.status === "failed" ? outcome.fault.hint : undefined;
  return `${outcome.status}: ${explain(outcome)}${hint === undefined ? "" : `\n${hint}`}`;
}

/** The exit code of a command whose run ended like this. */
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
