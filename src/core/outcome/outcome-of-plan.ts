import { failed, type Outcome } from "./outcome.ts";

/** How a plan ended: as its output did, and where that never ran, as what kept it from running. */
export function endingOf(outcome: Outcome, outcomeOf: (id: string) => Outcome | undefined): Outcome {
  if (outcome.status !== "skipped") return withoutSpent(outcome);
  const root = outcomeOf(outcome.because);
  if (root?.status === "failed" || root?.status === "cancelled") return withoutSpent(root);
  return failed("CRASHED", `"${outcome.because}" did not succeed.`);
}

/** What a node cost is the node's; whoever passes its outcome on leaves that behind. */
export function withoutSpent({
  usage: _u,
  cost: _c,
  model: _m,
  tools: _t,
  ms: _ms,
  file: _f,
  ...outcome
}: Outcome): Outcome {
  return outcome;
}
