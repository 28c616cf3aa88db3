import { startTimer } from "../async/long-timer.ts";
import { type FailedOutcome, type FaultCode, failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { statedVerdict } from "../../core/plan/review.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { following, reasonOf, stopped } from "../async/cancel.ts";
import { type Deadline, deadlineOf } from "../async/deadline.ts";
import { openConversation, isBudgetRefusal, type Conversation } from "./conversation.ts";
import type { FinishAttempt } from "./finish-tool.ts";
import type { UnfinishedTurn } from "./rebuild-conversation.ts";
import type { AnsweredTurn } from "./turn.ts";

/** Our own runner: the model and its tools take turns until a result is handed in or a limit ends it. */
export async function loop(assignment: Assignment, context: PerformContext): Promise<Outcome> {
  const clock = deadlineOf(assignment.limits, context);
  const waiting = pauseDeadline(context, clock);
  const talk = openConversation(assignment, waiting);
  try {
    const outcome = await converse(assignment, waiting, { talk, clock });
    context.remember?.(talk.messages());
    return { ...outcome, ...talk.spent() };
  } finally {
    clock.stop();
  }
}

/** The same context, in which waiting for helpers and for people takes none of the task's time. */
function pauseDeadline(context: PerformContext, { standing }: Deadline): PerformContext {
  return {
    ...context,
    delegate: (...asked) => standing(() => context.delegate(...asked)),
    ask: (...asked) => standing(() => context.ask(...asked)),
    mail: (wait) => (wait ? standing(() => context.mail(wait)) : context.mail()),
  };
}

type Ended = Extract<Outcome, { status: "failed" | "cancelled" }>;

/** Turns until there is an outcome. A limit gets one grace turn; a missing or invalid result is asked for again. */
async function converse(
  assignment: Assignment,
  context: PerformContext,
  { talk, clock }: { talk: Conversation; clock: Deadline },
): Promise<Outcome> {
  let repairs = 0;
  let overflowed = false;
  let narrow = false;
  let last = "";
  let taken = talk.unfinished;
  const watch = createWatch(assignment, context);
  const partly = (outcome: Ended): Outcome => withPartial(outcome, last);
  for (;;) {
    let turn: AnsweredTurn;
    const known = taken?.known;
    if (taken?.limit !== undefined) {
      const reached = { ...reachedAs(taken.limit, assignment), last, ms: assignment.limits.graceMs };
      return grace(reached, talk, context, taken);
    }
    if (taken) {
      turn = taken.turn;
      taken = undefined;
    } else {
      const limit = watch(talk, clock);
      if (limit) return grace({ ...limit, last, ms: assignment.limits.graceMs }, talk, context);
      const got = await talk.next(clock.signal, { last: narrow });
      if (isBudgetRefusal(got)) {
        context.emit({
          type: "limit.reached",
          limit: got.limit,
          text: `The budget is used up: ${got.refused}.`,
          enforced: true,
        });
        return grace({ code: "BUDGET", limit: got.refused, last, ms: assignment.limits.graceMs }, talk, context);
      }
      if ("fault" in got) {
        if (got.fault.code !== "MODEL_CONTEXT" || overflowed) return partly({ status: "failed", fault: got.fault });
        overflowed = true;
        await talk.makeRoom(clock.signal, { force: true });
        continue;
      }
      if ("aborted" in got) {
        if (got.urgent) continue;
        if (clock.passed() && !context.signal.aborted) continue;
        return partly({ status: "cancelled", reason: clock.reason() });
      }
      turn = got;
    }
    narrow = false;
    last = turn.text || last;
    const reply = await talk.answer(turn, clock.signal, known);
    if (context.signal.aborted) return partly({ status: "cancelled", reason: clock.reason() });
    if (reply.is === "more") continue;
    if (reply.is === "stuck")
      return partly(failed("STUCK", reply.text, { hint: "Give it other tools, or a narrower task." }));
    if (reply.is === "denied")
      return partly(failed("DENIED", reply.text, { hint: "Allow it the tools it needs, or change its task." }));
    // What was said while it finished still gets its turn, and so does what helpers of its own have yet to say.
    if (await talk.readMail(clock.signal)) continue;
    const { finish } = reply;
    if ("output" in finish) return { status: "ok", ...finish };
    if ("gaveUp" in finish) return partly(failed("AGENT_REPORTED", finish.gaveUp));
    if (assignment.call.review && statedVerdict(turn.text)) return { status: "ok", output: turn.text };
    if (repairs >= assignment.limits.reminders) return partly(unusable(finish));
    repairs += 1;
    if (turn.calls.length > 0) continue;
    narrow = assignment.completion === "tool";
    talk.tell(reminder(assignment, finish));
  }
}

function reminder({ completion }: Assignment, { problem, empty }: { problem: string; empty: boolean }): string {
  if (completion === "tool") return prompts.remindFinish;
  return empty ? prompts.remindEmpty : fill(prompts.remindJson, new Map([["problem", problem]]));
}

function unusable({ problem, empty }: Extract<FinishAttempt, { problem: string }>): FailedOutcome {
  if (empty) return failed("EMPTY", "The agent handed in nothing, also when asked again.", { retryable: true });
  return failed("INVALID_OUTPUT", `The result is not valid: ${problem}.`, { retryable: true });
}

type Reached = Readonly<{ code: Extract<FaultCode, "TIMEOUT" | "MAX_TURNS" | "BUDGET">; limit: string }>;

/** Looks at the limits before each turn; those that are not enforced are reported once and otherwise ignored. */
function createWatch(
  assignment: Assignment,
  { emit }: PerformContext,
): (talk: Conversation, clock: Deadline) => Reached | undefined {
  const { limits } = assignment;
  const reported = new Set<string>();
  return (talk, clock) => {
    const limit = clock.passed() ? "TIMEOUT" : talk.turns() >= limits.maxTurns ? "MAX_TURNS" : undefined;
    if (limit === undefined) return undefined;
    const reached = reachedAs(limit, assignment);
    if (!reported.has(reached.code))
      emit({
        type: "limit.reached",
        limit: reached.code,
        text: `The limit of ${reached.limit} was reached.`,
        enforced: limits.enforce,
      });
    reported.add(reached.code);
    return limits.enforce ? reached : undefined;
  };
}

/** A limit in the words of a failure; those of a budget have many names. */
function reachedAs(limit: string, { limits }: Pick<Assignment, "limits">): Reached {
  if (limit === "TIMEOUT") return { code: limit, limit: `${formatDuration(limits.maxTimeMs)} of time` };
  if (limit === "MAX_TURNS") return { code: limit, limit: `${limits.maxTurns} turns` };
  return { code: "BUDGET", limit: "the budget" };
}

const HINTS: Readonly<Record<Reached["code"], string>> = {
  TIMEOUT: "Allow more with --max-time.",
  MAX_TURNS: "Allow more with --max-turns.",
  BUDGET: "Allow more with --max-usd or --max-tokens.",
};

/** The one turn after a limit, in which only handing in is possible; `taken`: an earlier life had it. */
async function grace(
  { code, limit, last, ms }: Reached & { last: string; ms: number },
  talk: Conversation,
  context: PerformContext,
  taken?: UnfinishedTurn,
): Promise<Outcome> {
  const turn = taken?.turn ?? (await lastTurn({ limit, ms }, talk, context));
  const said = isBudgetRefusal(turn) ? "" : turn.text;
  const partial = said || last;
  if (context.signal.aborted) return withPartial({ status: "cancelled", reason: reasonOf(context.signal) }, partial);
  const reply = "calls" in turn ? await talk.answer(turn, context.signal, taken?.known) : undefined;
  if (reply?.is === "over" && "output" in reply.finish) return { status: "ok", ...reply.finish };
  return withPartial(
    failed(code, `The task reached its limit (${limit}) without a result.`, {
      hint: HINTS[code],
      retryable: code === "TIMEOUT",
    }),
    partial,
  );
}

async function lastTurn(
  { limit, ms }: { limit: string; ms: number },
  talk: Conversation,
  context: PerformContext,
): ReturnType<Conversation["next"]> {
  talk.tell(fill(prompts.grace, new Map([["limit", limit]])));
  const { controller, release } = following(context.signal);
  const clear = startTimer(() => controller.abort(stopped("the grace turn took too long")), ms);
  try {
    return await talk.next(controller.signal, { last: true });
  } finally {
    clear();
    release();
  }
}
