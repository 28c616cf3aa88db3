import { failed, type Outcome } from "./outcome.ts";

/**
 * The outcome of a plan: the outcome of its output node, or, if that node never ran, the outcome that prevented it from
 * running.
 */
export function endingOf(outcome: Outcome, outcomeOf: (id: string) => Outcome | undefined): Outcome {
  if (outcome.status !== "skipped") return withoutSpent(outcome);
  const root = outcomeOf(outcome.because);
  if (root?.status === "failed" || root?.status === "cancelled") return withoutSpent(root);
  return failed("CRASHED", `"${outcome.because}" did not succeed.`);
}

/** Removes cost and usage, which belong to the node that caused them. */
export function withoutSpent({
  usage: _u,
  cost: _c,
  model: _m,
  tools: _t,
  ms: _ms,
  artifact: _a,
  ...outcome
}: Outcome): Outcome {
  return outcome;
}
