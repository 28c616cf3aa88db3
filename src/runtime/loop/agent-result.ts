import { type FailedOutcome, failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { type ReviewAnswer, statedVerdict, withVerdict } from "../../core/plan/review.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import type { Conversation } from "./conversation.ts";
import { createCorrections } from "./corrections.ts";
import type { FinishAttempt } from "./finish-tool.ts";
import type { AnsweredTurn } from "./turn.ts";

/** The outcome of a task that ended without a result. */
export type EndedEarly = FailedOutcome | Extract<Outcome, { status: "cancelled" }>;

type Unusable = Extract<FinishAttempt, { problem: string }>;

/** The result that an agent returns: taken, or requested again if it is missing, not valid or without a verdict. */
export class AgentResult {
  readonly #assignment: Assignment;
  readonly #talk: Conversation;
  readonly #mayCorrect: ReturnType<typeof createCorrections>;
  /** The result of a reviewer who is asked for the verdict. */
  #unjudged: ReviewAnswer | undefined;
  #isNext = false;

  constructor(assignment: Assignment, talk: Conversation) {
    this.#assignment = assignment;
    this.#talk = talk;
    this.#mayCorrect = createCorrections(assignment.limits);
  }

  /** True when the next turn may only return the result. */
  get isNext(): boolean {
    return this.#isNext;
  }

  /** Returns the outcome of the task; `undefined`: the agent is asked for its result again. */
  take(turn: AnsweredTurn, finish: FinishAttempt, last: string): Outcome | undefined {
    const assignment = this.#assignment;
    this.#isNext = false;
    if ("output" in finish) {
      const result = { ...finish, ...(turn.calls.length === 0 && allTexts(assignment, this.#talk)) };
      if (this.#unjudged !== undefined || !needsVerdict(result, assignment, this.#talk))
        return { status: "ok", ...withVerdict(this.#unjudged, result) };
      this.#unjudged = result;
      this.#talk.tell(prompts.remindVerdict);
      return undefined;
    }
    if ("gaveUp" in finish) return this.partly(failed("AGENT_REPORTED", finish.gaveUp), last);
    if (assignment.call.review && (this.#unjudged !== undefined || statedVerdict(turn.text)))
      return { status: "ok", ...withVerdict(this.#unjudged, { output: turn.text }) };
    if (!this.#mayCorrect(finish, isMissing(turn, finish, assignment))) return unusable(finish, last);
    if (turn.calls.length > 0) return undefined;
    this.#isNext = assignment.completion === "tool";
    this.#talk.tell(reminder(assignment, finish));
    return undefined;
  }

  /** The outcome of a task that ends early, with its last text. A review that was given before is its result. */
  partly(outcome: EndedEarly, last: string): Outcome {
    if (this.#unjudged && outcome.status === "failed") return { status: "ok", ...this.#unjudged };
    return withPartial(outcome, last);
  }
}

/** Whether a result is a review without a verdict, and there is a turn left in which the agent can give it. */
function needsVerdict({ output, data }: ReviewAnswer, { call, limits }: Assignment, talk: Conversation): boolean {
  if (!call.review || limits.reminders === 0 || (limits.enforce && talk.turns() >= limits.maxTurns)) return false;
  return statedVerdict(output, data) === undefined;
}

/** True if the agent returned no result at all: it wrote only text although it has a finish tool. */
function isMissing(
  { calls }: { calls: readonly unknown[] },
  { empty, isProse = false }: Unusable,
  { completion }: Assignment,
): boolean {
  if (empty) return true;
  return calls.length === 0 && (completion === "tool" || (completion === "tool-or-text" && isProse));
}

/** All messages of the agent as its result, if its definition asks for that. */
function allTexts({ agent, validate }: Assignment, talk: Conversation): { output?: string } {
  if (agent.summary !== "all" || validate) return {};
  const texts = talk.said().filter((text) => text.trim() !== "");
  return texts.length > 1 ? { output: texts.join("\n\n") } : {};
}

function reminder({ completion }: Assignment, { problem, empty, detail = problem }: Unusable): string {
  if (completion === "tool") return prompts.remindFinish;
  return empty ? prompts.remindEmpty : fill(prompts.remindJson, new Map([["problem", detail]]));
}

/** The outcome of a task whose result cannot be used; the rejected value is kept. */
function unusable({ problem, empty, value }: Unusable, last: string): Outcome {
  if (empty)
    return withPartial(
      failed("EMPTY", "The agent returned no result, even when it was asked again.", { retryable: true }),
      last,
    );
  const invalid = failed("INVALID_OUTPUT", `The result is not valid: ${problem}.`, { retryable: true });
  if (value === undefined) return withPartial(invalid, last);
  return { ...invalid, output: typeof value === "string" ? value : JSON.stringify(value, null, 2), data: value };
}
