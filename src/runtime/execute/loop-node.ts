import { failed, type Outcome, type ReviewRound, sumSpent } from "../../core/outcome/outcome.ts";
import { endingOf } from "../../core/outcome/outcome-of-plan.ts";
import type { LoopNode, Node } from "../../core/plan/plan.ts";
import { parseReview, statedVerdict } from "../../core/plan/review.ts";
import { cutHead } from "../../core/text/cut.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import type { NodeContext, Round } from "./scope.ts";

/**
 * Maximum length of the feedback of each review round in the loop's outcome; the reviewing task's own outcome has the
 * full text.
 */
const FEEDBACK_CHARS = 2_000;

/**
 * Executes a loop: repeats its body until the node that decides (such as a review) approves. The round is part of the
 * path: `build.2/review`.
 */
export async function runLoop(node: LoopNode, context: NodeContext): Promise<Outcome> {
  context.scope.run.emit(context.path, { type: "node.started", attempt: 1, kind: "loop" });
  const done: Outcome[] = [];
  const outcome = await repeat(node, context, done);
  return { ...outcome, ...sumSpent(done) };
}

/** Runs rounds until a round is approved or no round is left, and adds the outcome of each node to `all`. */
async function repeat(
  node: LoopNode,
  { path, scope, signal, outcomeOf, promptOf, pathOf }: NodeContext,
  all: Outcome[],
): Promise<Outcome> {
  const { run } = scope;
  const judge = node.body.nodes[node.until]?.kind;
  const reviews: ReviewRound[] = [];
  const outer = scope.round && scope.prefix + scope.round.of === path ? scope.round : undefined;
  let round: Round | undefined = outer && { ...outer, of: node.body.output };
  for (let n = 1; ; n += 1) {
    const done = await run.execute(node.body, {
      ...scope,
      prefix: `${path}.${n}/`,
      roots: [...new Set([node.body.output, node.until])],
      outer: { outcomeOf, promptOf, ...defined({ pathOf }) },
      judge: node.until,
      loop: scope.loop ?? path,
      round,
      signal,
    });
    all.push(...Object.keys(node.body.nodes).flatMap((id) => done.outcomeOf(id) ?? []));
    const verdict = verdictOf(done.outcomeOf(node.until), judge);
    // When the plan was rejected, the work itself has not started, so the plan is what is revised.
    const judged = done.outcome.status === "skipped" && verdict.is !== "unknown" ? draftOf(node) : undefined;
    const draft = judged === undefined ? undefined : done.outcomeOf(judged);
    const work = draft?.status === "ok" ? draft : endingOf(done.outcome, done.outcomeOf);
    if (work.status !== "ok") return work;
    if (verdict.is === "over") return withWork(endingOf(verdict.outcome, done.outcomeOf), work.output);
    const approved = verdict.is === "approved";
    if (verdict.is !== "unknown") reviews.push({ approved, feedback: cutHead(verdict.feedback, FEEDBACK_CHARS).text });
    const taken: Outcome = {
      status: "ok",
      output: work.output,
      from: [`${path}.${n}/${node.body.output}`],
      approved: approved && (judge === "task" || work.approved !== false),
      reviews: judge === "task" ? reviews : (work.reviews ?? reviews), // an approval of a person leaves the reviews of the work
      ...defined({ data: work.data, artifact: done.outcomeOf(node.body.output)?.artifact }),
      ...defined({ summaryChars: work.summaryChars, summaryCut: work.summaryCut }),
    };
    if (approved) return taken;
    if (verdict.is === "again" && n < node.max) {
      round = { of: judged ?? node.body.output, output: work.output, feedback: verdict.feedback };
      continue;
    }
    const why =
      verdict.is === "unknown"
        ? `the review failed (${verdict.why})`
        : `${n} ${n === 1 ? "round" : "rounds"} of review did not approve the work`;
    if (node.exhausted === "fail")
      return {
        ...failed("NOT_APPROVED", `"${path}" was not approved: ${why}.`, {
          hint: "The last version is stored with the run. Allow more rounds with `maxIterations`, or accept the last version with --review-exhausted accept.",
        }),
        output: work.output,
        approved: false,
        reviews,
      };
    run.emit(path, {
      type: "warning",
      code: verdict.is === "unknown" ? "REVIEW_FAILED" : "REVIEW_EXHAUSTED",
      text: `"${path}" was not approved: ${why}. Its last version was accepted anyway.`,
    });
    return taken;
  }
}

/** The node whose output is reviewed by the node that decides about a loop's rounds. */
function draftOf({ body, until }: LoopNode): string | undefined {
  const judge = body.nodes[until];
  return judge && "needs" in judge ? judge.needs?.[0] : undefined;
}

/** Adds the reviewed output to the outcome of a rejected review. */
function withWork(outcome: Outcome, output: string): Outcome {
  return outcome.status === "failed" || outcome.status === "cancelled" ? { ...outcome, output } : outcome;
}

type Verdict =
  | Readonly<{ is: "approved"; feedback: string }>
  | Readonly<{ is: "again"; feedback: string }>
  | Readonly<{ is: "unknown"; why: string }>
  | Readonly<{ is: "over"; outcome: Outcome }>;

/**
 * The verdict of the node that decides about a loop's round. If the review failed, the work is kept. If a person
 * rejected the work, it is discarded. A question that no person could answer is not an approval.
 */
function verdictOf(outcome: Outcome | undefined, judge: Node["kind"] | undefined): Verdict {
  if (!outcome) return { is: "unknown", why: "it did not run" };
  if (outcome.status === "cancelled") return { is: "over", outcome };
  if (outcome.status === "skipped")
    return judge === "task" ? { is: "unknown", why: "it did not run" } : { is: "over", outcome };
  const { data } = outcome;
  if (outcome.status === "failed") {
    const { code, message } = outcome.fault;
    const said = isRecord(data) && typeof data["feedback"] === "string" ? data["feedback"] : "";
    if (code === "REJECTED" && said !== "") return { is: "again", feedback: said };
    if (judge !== "task") return { is: "over", outcome };
    // A review that does not match its schema may still contain a verdict.
    const stated = code === "INVALID_OUTPUT" ? statedVerdict(outcome.output ?? "") : undefined;
    return stated
      ? { is: stated.approved ? "approved" : "again", feedback: stated.feedback }
      : { is: "unknown", why: message };
  }
  const { approved, feedback } = parseReview(outcome.output, data);
  return { is: approved ? "approved" : "again", feedback };
}
