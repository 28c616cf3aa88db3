import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { endingOf } from "../../core/outcome/outcome-of-plan.ts";
import type { LoopNode, Node } from "../../core/plan/plan.ts";
import { parseReview } from "../../core/plan/review.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import type { NodeContext, Round } from "./scope.ts";

/** Repeats its body until the deciding node approves. The round is part of the path: `build.2/review`. */
export async function runLoop(
  node: LoopNode,
  { path, scope, signal, outcomeOf, promptOf }: NodeContext,
): Promise<Outcome> {
  const { run } = scope;
  const judge = node.body.nodes[node.until]?.kind;
  run.emit(path, { type: "node.started", attempt: 1, kind: "loop" });
  let round: Round | undefined = scope.round;
  for (let n = 1; ; n += 1) {
    const done = await run.execute(node.body, {
      ...scope,
      prefix: `${path}.${n}/`,
      roots: [...new Set([node.body.output, node.until])],
      outer: { outcomeOf, promptOf },
      signal,
      ...defined({ round }),
    });
    const work = endingOf(done.outcome, done.outcomeOf);
    if (work.status !== "ok") return work;
    const verdict = verdictOf(done.outcomeOf(node.until), judge);
    if (verdict.is === "over") return withWork(endingOf(verdict.outcome, done.outcomeOf), work.output);
    const taken: Outcome = {
      status: "ok",
      output: work.output,
      from: [`${path}.${n}/${node.body.output}`],
      ...defined({ data: work.data }),
    };
    if (verdict.is === "approved") return taken;
    if (verdict.is === "unknown") {
      run.emit(path, {
        type: "warning",
        code: "REVIEW_FAILED",
        text: `The review of "${path}" broke (${verdict.why}); the work was taken as it is.`,
      });
      return taken;
    }
    if (n >= node.max) {
      if (node.exhausted === "fail")
        return { ...failed("NOT_APPROVED", `"${path}" was not approved in ${n} rounds.`), output: work.output };
      run.emit(path, {
        type: "warning",
        code: "REVIEW_EXHAUSTED",
        text: `"${path}" was not approved in ${n} rounds; the last one was taken.`,
      });
      return taken;
    }
    round = { output: work.output, feedback: verdict.feedback };
  }
}

/** Work that was not taken still travels with the reason. */
function withWork(outcome: Outcome, output: string): Outcome {
  return outcome.status === "failed" || outcome.status === "cancelled" ? { ...outcome, output } : outcome;
}

type Verdict =
  | Readonly<{ is: "approved" }>
  | Readonly<{ is: "again"; feedback: string }>
  | Readonly<{ is: "unknown"; why: string }>
  | Readonly<{ is: "over"; outcome: Outcome }>;

/**
 * What the deciding node said. A reviewer that breaks does not throw good work away. A person who says no does, and a
 * question that nobody could answer is no yes.
 */
function verdictOf(outcome: Outcome | undefined, judge: Node["kind"] | undefined): Verdict {
  if (!outcome) return { is: "unknown", why: "it did not run" };
  if (outcome.status === "cancelled") return { is: "over", outcome };
  if (outcome.status === "skipped")
    return judge === "task" ? { is: "unknown", why: "it did not run" } : { is: "over", outcome };
  const said = "data" in outcome && isRecord(outcome.data) ? outcome.data : {};
  if (outcome.status === "failed") {
    const { code, message } = outcome.fault;
    if (code === "REJECTED" && typeof said["feedback"] === "string" && said["feedback"] !== "")
      return { is: "again", feedback: said["feedback"] };
    return judge === "task" ? { is: "unknown", why: message } : { is: "over", outcome };
  }
  if (typeof said["approved"] === "boolean")
    return said["approved"]
      ? { is: "approved" }
      : { is: "again", feedback: typeof said["feedback"] === "string" ? said["feedback"] : "" };
  const { approved, feedback } = parseReview(outcome.output);
  return approved ? { is: "approved" } : { is: "again", feedback };
}
