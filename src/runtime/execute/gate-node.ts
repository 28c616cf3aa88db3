import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Answer } from "../../core/plan/gate.ts";
import type { GateNode } from "../../core/plan/plan.ts";
import { fillIn } from "../../core/schedule/fill-references.ts";
import { reasonOf } from "../async/cancel.ts";
import { answerTimeoutOf, APPROVED, questionKey } from "./ask-person.ts";
import type { NodeContext } from "./scope.ts";

/**
 * Asks a person and waits for the answer. A gate (a question in a plan) that no person can answer fails; it never
 * counts as an approval.
 */
export async function runGate(node: GateNode, context: NodeContext): Promise<Outcome> {
  const { path, scope } = context;
  const answer = scope.run.history.answer(path) ?? (await askedAnswer(node, context));
  if ("status" in answer) return answer;
  if (answer.approve) return { status: "ok", output: answer.text ?? "approved", data: { approved: true } };
  const feedback = answer.text?.trim() ?? "";
  const message = feedback === "" ? `"${path}" was rejected.` : `"${path}" was rejected: ${feedback}`;
  return { ...failed("REJECTED", message), data: { approved: false, feedback } };
}

async function askedAnswer(node: GateNode, context: NodeContext): Promise<Answer | Outcome> {
  const { path, signal, scope } = context;
  const { run } = scope;
  run.emit(path, { type: "node.started", attempt: 1, kind: "gate" });
  if (run.parameters.yes) {
    run.emit(path, { type: "gate.answered", answer: APPROVED });
    return APPROVED;
  }
  run.emit(path, { type: "gate.opened", question: fillIn(node, context) });
  if (run.parameters.unattended && !run.hasSavedAnswer?.(path)) {
    return failed("NEEDS_ANSWER", `"${path}" needs an approval, and nobody is available to give it.`, {
      hint: "Run the task in a terminal and answer there, or approve in advance with --yes.",
    });
  }
  const patience = answerTimeoutOf(run, signal);
  const answer = await run.engine.answer(questionKey(run.id, path, undefined), patience.signal);
  patience.release();
  if (!answer && !signal.aborted)
    return failed("NEEDS_ANSWER", `"${path}" waited for an approval: ${patience.text}.`, {
      hint: "Allow more time with --answer-timeout, then resume the run with --retry-failed.",
    });
  if (!answer) return { status: "cancelled", reason: reasonOf(signal) };
  run.emit(path, { type: "gate.answered", answer });
  return answer;
}
