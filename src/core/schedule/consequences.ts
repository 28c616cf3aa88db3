import type { Outcome } from "../outcome/outcome.ts";
import type { Body } from "../plan/plan.ts";
import { begin, settle } from "./decide.ts";
import { schedule } from "./schedule.ts";

/** A plan, and a lookup of the outcomes of its ended nodes. */
export type KnownOutcomes = Readonly<{ body: Body; outcomeOf(id: string): Outcome | undefined }>;

/** The nodes that are skipped when this node is cancelled, without joins (nodes that collect outputs). */
export function endWith({ body, outcomeOf }: KnownOutcomes, id: string): string[] {
  const all = schedule(body);
  begin(all);
  for (const other of all.entries.keys()) {
    const outcome = outcomeOf(other);
    if (outcome) settle(all, other, outcome);
  }
  const { settled, cancel } = settle(all, id, { status: "cancelled", reason: "" });
  return [...settled, ...cancel].filter((other) => other !== id && body.nodes[other]?.kind !== "join");
}
