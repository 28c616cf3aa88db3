import { extractMessageText, extractTaskText, type RemoteAnswer, remoteResult } from "../../core/net/a2a.ts";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { shortSaid } from "./a2a-fault.ts";
import { type FinishAttempt, finishText, finishWith } from "../../runtime/loop/finish-tool.ts";

/**
 * What an answer of a remote agent means: the end of the task, a question, or an unusable answer that is requested
 * again.
 */
export type AnswerVerdict =
  | Readonly<{ is: "over"; outcome: Outcome }>
  | Readonly<{ is: "asks"; question: string }>
  | Readonly<{
      is: "unusable";
      finish: Extract<FinishAttempt, { problem: string }>;
      outcome: FailedOutcome;
      remind: string;
    }>;

/** How texts are made safe to show, and who is told what was corrected in a result. */
type VerdictParts = Readonly<{ clean(text: string): string; report(slips: string): void }>;

/** Interprets a remote agent's answer for the task. */
export function verdictOf(
  answer: RemoteAnswer,
  assignment: Assignment,
  { clean, report }: VerdictParts,
): AnswerVerdict {
  const { name } = assignment.agent;
  const over = (outcome: Outcome): AnswerVerdict => ({ is: "over", outcome });
  const state = answer.kind === "message" ? "completed" : answer.status.state;
  const said = shortSaid(clean(answer.kind === "message" ? extractMessageText(answer) : extractTaskText(answer)));
  const because = said === "" ? "." : `: ${said}`;
  switch (state) {
    case "input-required":
      return { is: "asks", question: said };
    case "failed":
      return over(failed("AGENT_REPORTED", `${name} failed${because}`, { retryable: true }));
    case "rejected":
      return over(
        failed("REMOTE_REFUSED", `${name} refused the task${because}`, {
          hint: "Give the agent another task, or ask its operator.",
        }),
      );
    case "canceled":
      return over(failed("AGENT_REPORTED", `${name} cancelled the task${because}`));
    default:
      return finished(finishOf(answer, assignment, { clean, report }), name);
  }
}

function finishOf(answer: RemoteAnswer, assignment: Assignment, { clean, report }: VerdictParts): FinishAttempt {
  const { text, data } = remoteResult(answer);
  if (data !== undefined && assignment.validate) return finishWith({ result: data }, assignment, report);
  const finish = finishText(clean(text), assignment, report);
  return data !== undefined && "output" in finish ? { ...finish, data } : finish;
}

function finished(finish: FinishAttempt, name: string): AnswerVerdict {
  if ("output" in finish) return { is: "over", outcome: { status: "ok", ...finish } };
  if ("gaveUp" in finish) return { is: "over", outcome: failed("AGENT_REPORTED", `${name} gave up: ${finish.gaveUp}`) };
  const { problem, empty, detail = problem } = finish;
  return empty
    ? {
        is: "unusable",
        finish,
        outcome: failed("EMPTY", `${name} returned no result, even when it was asked again.`, { retryable: true }),
        remind: prompts.remindEmpty,
      }
    : {
        is: "unusable",
        finish,
        outcome: failed("INVALID_OUTPUT", `The result of ${name} is not valid: ${problem}.`, { retryable: true }),
        remind: fill(prompts.remindJson, new Map([["problem", detail]])),
      };
}
