import { defined } from "../text/defined.ts";
import { addCount } from "../text/json.ts";
import { showsNothing } from "../text/sanitize.ts";
import { addCost, addUsage, noCost, noUsage } from "./usage.ts";
import { type FaultCode, faultExits } from "./fault-codes.ts";
import type { Fault, Outcome, ReviewRound, Spending } from "./outcome-schema.ts";

export type { Fault, FaultCode, Outcome, ReviewRound, Spending };

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
