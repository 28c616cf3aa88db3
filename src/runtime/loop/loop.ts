import { startTimer } from "../async/long-timer.ts";
import { type FailedOutcome, failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import {
  codeOfLimit,
  type LimitCode,
  limitFlag,
  limitText,
  type ReachedLimit,
} from "../../core/outcome/reached-limit.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { Fact } from "../../core/run/event.ts";
import { statedVerdict } from "../../core/plan/review.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { fill } from "../../core/text/template.ts";
import { type Limits, NEAR_MIN_TURNS, NEAR_SHARE } from "../../core/vocabulary/limits.ts";
import { prompts } from "../../embedded.ts";
import { following, reasonOf, stopped } from "../async/cancel.ts";
import { type Deadline, deadlineOf } from "../async/deadline.ts";
import { Conversation, isBudgetRefusal } from "./conversation.ts";
import { createCorrections } from "./corrections.ts";
import type { FinishAttempt } from "./finish-tool.ts";
import { parkForBudget } from "./park.ts";
import type { PastLimit, UnfinishedTurn } from "./rebuild-conversation.ts";
import type { AnsweredTurn } from "./turn.ts";

/** The local runner: the model and its tools take turns until there is a result or a limit is reached. */
export async function loop(assignment: Assignment, context: PerformContext): Promise<Outcome> {
  const { maxTimeMs } = assignment.limits;
  const recorded = await context.past();
  const clock = deadlineOf(assignment.limits, context, () =>
    context.emit(nearLimit(`The task has worked for ${formatDuration(maxTimeMs * NEAR_SHARE)}`, "time", maxTimeMs)),
  );
  const own = taskContext(context, { conversation: () => talk.forkPoint(), standing: clock.standing });
  const talk: Conversation = new Conversation(assignment, own, recorded);
  try {
    const outcome = await converse(assignment, own, { talk, clock });
    context.remember?.(talk.messages());
    return { ...outcome, ...talk.spent() };
  } finally {
    clock.stop();
  }
}

type Ended = Extract<Outcome, { status: "failed" | "cancelled" }>;

/**
 * Takes turns until there is an outcome. After a limit, the agent gets one more turn to return its result; a missing or
 * invalid result is requested again.
 */
async function converse(
  assignment: Assignment,
  context: PerformContext,
  { talk, clock }: { talk: Conversation; clock: Deadline },
): Promise<Outcome> {
  const mayCorrect = createCorrections(assignment.limits);
  let overflowed = false;
  let narrow = false;
  let taken = talk.unfinished;
  let last = taken?.turn.text ?? "";
  let unjudged: ReviewResult | undefined;
  const watch = createWatch(assignment, context);
  const partly = (outcome: Ended): Outcome =>
    unjudged && outcome.status === "failed" ? { status: "ok", ...unjudged } : withPartial(outcome, last);
  /**
   * Handles a turn that the budget refuses. Returns the outcome that ends the task, or `undefined` if the task waited
   * until the budget allowed turns again.
   */
  const refused = async (refusal: BudgetRefusal): Promise<Outcome | undefined> => {
    const parked = await parkForBudget(refusal, assignment, context);
    if (parked === "goes on") return undefined;
    if (parked === "stopped") return partly({ status: "cancelled", reason: clock.reason() });
    if ("unpriced" in refusal) return partly(unpriced(assignment));
    const reached = { code: codeOfLimit(refusal.limit), limit: refusal.limit };
    const text = `The budget is used up: ${refusal.refused}.`;
    context.emit({ type: "limit.reached", limit: reached.code, text, enforced: true, reached: reached.limit });
    if (talk.turns() === 0) return notBegun(reached);
    return grace({ ending: atLimit(reached), last }, talk, { assignment, context });
  };
  for (;;) {
    let turn: AnsweredTurn;
    const known = taken?.known;
    if (taken?.limit !== undefined)
      return grace({ ending: pastEnding(taken.limit, assignment), last }, talk, { assignment, context, taken });
    if (taken) {
      turn = taken.turn;
      taken = undefined;
    } else {
      if (talk.idle) return grace({ ending: pastEnding(talk.idle, assignment), last }, talk, { assignment, context });
      const limit = watch(talk, clock);
      if (limit) return grace({ ending: atLimit(limit), last }, talk, { assignment, context });
      const got = await talk.next(clock.signal, { last: narrow });
      if (isBudgetRefusal(got)) {
        const ended = await refused(got);
        if (ended) return ended;
        continue;
      }
      last = got.text || last;
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
      overflowed = false;
    }
    narrow = false;
    const reply = await talk.answer(turn, clock.signal, known);
    if (context.signal.aborted) return partly({ status: "cancelled", reason: clock.reason() });
    if (reply.is === "more") continue;
    if (reply.is === "limit") {
      const ended = await refused(reply.refusal);
      if (ended) return ended;
      continue;
    }
    if (reply.is === "idle") {
      const { code, text } = reply;
      context.emit({ type: "limit.reached", limit: code, text, enforced: true });
      return grace({ ending: idleEnding(code, text), last }, talk, { assignment, context });
    }
    // Messages that arrived meanwhile, and results of the agent's subagents, still get a model turn.
    if (await talk.readMail(clock.signal)) continue;
    const { finish } = reply;
    if ("output" in finish) {
      const result = { ...finish, ...(turn.calls.length === 0 && allTexts(assignment, talk)) };
      if (unjudged === undefined && needsVerdict(result, assignment, talk)) {
        unjudged = result;
        talk.tell(prompts.remindVerdict);
        continue;
      }
      return { status: "ok", ...withVerdict(unjudged, result) };
    }
    if ("gaveUp" in finish) return partly(failed("AGENT_REPORTED", finish.gaveUp));
    if (assignment.call.review && (unjudged !== undefined || statedVerdict(turn.text)))
      return { status: "ok", ...withVerdict(unjudged, { output: turn.text }) };
    if (!mayCorrect(finish, isMissing(turn, finish, assignment))) return unusable(finish, last);
    if (turn.calls.length > 0) continue;
    narrow = assignment.completion === "tool";
    talk.tell(reminder(assignment, finish));
  }
}

type ReviewResult = Readonly<{ output: string; data?: unknown }>;

/** Whether a result is a review without a verdict, and there is a turn left in which the agent can give it. */
function needsVerdict({ output, data }: ReviewResult, { call, limits }: Assignment, talk: Conversation): boolean {
  if (!call.review || limits.reminders === 0 || (limits.enforce && talk.turns() >= limits.maxTurns)) return false;
  return statedVerdict(output, data) === undefined;
}

/** The result of a reviewer who gave the verdict in a second answer: the first answer has the findings. */
const withVerdict = (first: ReviewResult | undefined, second: ReviewResult): ReviewResult =>
  first === undefined ? second : { ...first, ...second, output: `${first.output}\n\n${second.output}`.trim() };

/** True if the agent returned no result at all: it wrote only text although it has a finish tool. */
function isMissing(
  { calls }: { calls: readonly unknown[] },
  { empty, isProse = false }: Extract<FinishAttempt, { problem: string }>,
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

function reminder(
  { completion }: Assignment,
  { problem, empty, detail = problem }: Extract<FinishAttempt, { problem: string }>,
): string {
  if (completion === "tool") return prompts.remindFinish;
  return empty ? prompts.remindEmpty : fill(prompts.remindJson, new Map([["problem", detail]]));
}

/** The outcome of a task whose result cannot be used; the rejected value is kept. */
function unusable({ problem, empty, value }: Extract<FinishAttempt, { problem: string }>, last: string): Outcome {
  if (empty)
    return withPartial(
      failed("EMPTY", "The agent returned no result, even when it was asked again.", { retryable: true }),
      last,
    );
  const invalid = failed("INVALID_OUTPUT", `The result is not valid: ${problem}.`, { retryable: true });
  if (value === undefined) return withPartial(invalid, last);
  return { ...invalid, output: typeof value === "string" ? value : JSON.stringify(value, null, 2), data: value };
}

/** A limit that ends a task: its failure code, and its description for the outcome. */
type Reached = Readonly<{ code: LimitCode; limit: ReachedLimit }>;

/** Checks a task's limits before each turn; limits that are not enforced are only reported, once. */
function createWatch(
  { limits }: Assignment,
  { emit }: PerformContext,
): (talk: Conversation, clock: Deadline) => Reached | undefined {
  const reported = new Set<string>();
  const nearTurns = limits.maxTurns < NEAR_MIN_TURNS ? limits.maxTurns : Math.ceil(limits.maxTurns * NEAR_SHARE);
  return (talk, clock) => {
    if (talk.turns() >= nearTurns && talk.turns() < limits.maxTurns && !reported.has("near")) {
      reported.add("near");
      emit(nearLimit(`The task has taken ${talk.turns()} turns`, "turns", limits.maxTurns));
    }
    const reached =
      clock.passed() && limits.enforce // the clock reports a time limit that is not enforced
        ? timeLimit(limits)
        : talk.turns() >= limits.maxTurns
          ? turnLimit(limits)
          : undefined;
    if (reached === undefined) return undefined;
    if (!reported.has(reached.code))
      emit({
        type: "limit.reached",
        limit: reached.code,
        text: `The limit of ${limitText(reached.limit)} was reached.`,
        enforced: limits.enforce,
        reached: reached.limit,
      });
    reported.add(reached.code);
    return limits.enforce ? reached : undefined;
  };
}

/** Warns that a task is near one of its limits, and names the flag that raises the limit. */
function nearLimit(used: string, kind: "turns" | "time", value: number): Extract<Fact, { type: "warning" }> {
  const text = `${used} and may take ${limitText({ kind, value })}; then the agent returns the result it has so far. Raise the limit with ${limitFlag({ kind, value })}.`;
  return { type: "warning", code: "LIMIT_NEAR", text };
}

const timeLimit = ({ maxTimeMs }: Limits): Reached => ({ code: "TIMEOUT", limit: { kind: "time", value: maxTimeMs } });
const turnLimit = ({ maxTurns }: Limits): Reached => ({ code: "MAX_TURNS", limit: { kind: "turns", value: maxTurns } });

/** Why a task got its last turn before it was resumed. */
function pastEnding({ name, reached, text }: PastLimit, { limits }: Assignment): Ending {
  if (name === "STUCK" || name === "DENIED") return idleEnding(name, text);
  if (reached?.run) return atLimit({ code: codeOfLimit(reached), limit: reached });
  if (name === "TIMEOUT") return atLimit(timeLimit(limits));
  if (name === "MAX_TURNS") return atLimit(turnLimit(limits));
  return atLimit({ code: "BUDGET", limit: { kind: "tokens", value: 0, run: true } });
}

/** Why a task gets its last turn, and its failure if it returns no result in it. */
type Ending = Readonly<{ words: string; limit?: ReachedLimit; fail(lastTurn: string): FailedOutcome }>;

function atLimit({ code, limit }: Reached): Ending {
  const words = limitText(limit);
  return {
    words,
    limit,
    fail: (lastTurn) =>
      failed(code, `The task reached its limit of ${words} without a result.${lastTurn}`, {
        hint: `Raise the limit with ${limitFlag(limit)}.`,
        retryable: code === "TIMEOUT",
      }),
  };
}

/** The ending of a task that makes no progress. */
function idleEnding(code: "STUCK" | "DENIED", text: string): Ending {
  const { words, hint } = idleTexts[code];
  return { words, fail: (lastTurn) => failed(code, `${text}${lastTurn}`, { hint }) };
}

const idleTexts = {
  STUCK: {
    words: "the same call with the same result again and again",
    hint: "Give the agent other tools, or a narrower task.",
  },
  DENIED: {
    words: "turns whose calls were all refused",
    hint: "Allow the agent the tools it needs, or change its task.",
  },
} as const;

function unpriced({ model }: Assignment): FailedOutcome {
  return failed("BUDGET", `The price of ${model.name} is unknown, so a limit in dollars cannot be enforced.`, {
    hint: "Give the price of the model in the settings (providers.NAME.prices), or limit the run with --max-tokens.",
  });
}

/** The outcome of a task that does not start, because a limit of the run was reached. */
function notBegun({ code, limit }: Reached): Outcome {
  const text =
    limit.kind === "usd" || limit.kind === "tokens"
      ? `The first request of this task needs more than the rest of the limit of ${limitText(limit)}.`
      : `The run reached its limit of ${limitText(limit)} before this task began.`;
  return { ...failed(code, text, { hint: `Raise the limit with ${limitFlag(limit)}.` }), limit };
}

type Closing = Readonly<{ assignment: Assignment; context: PerformContext; taken?: UnfinishedTurn }>;

/**
 * The one turn that a task gets to return its result, after it reached a limit or made no progress. `taken`: the turn
 * was already used before a resume.
 */
async function grace(
  { ending: { words, limit, fail }, last }: Readonly<{ ending: Ending; last: string }>,
  talk: Conversation,
  { assignment, context, taken }: Closing,
): Promise<Outcome> {
  const turn = taken?.turn ?? (await lastTurn({ limit: words, ms: assignment.limits.graceMs }, talk, context));
  const said = isBudgetRefusal(turn) ? "" : turn.text;
  const partial = said || last;
  if (context.signal.aborted) return withPartial({ status: "cancelled", reason: reasonOf(context.signal) }, partial);
  const reply = "calls" in turn ? await talk.answer(turn, context.signal, taken?.known) : undefined;
  if (reply?.is === "over" && "output" in reply.finish) return { status: "ok", ...reply.finish, ...defined({ limit }) };
  const fault = fail("fault" in turn ? ` The last turn failed: ${withFullStop(turn.fault.message)}` : "");
  return { ...withPartial(fault, partial), ...defined({ limit }) };
}

async function lastTurn(
  { limit, ms }: { limit: string; ms: number },
  talk: Conversation,
  context: PerformContext,
): ReturnType<Conversation["next"]> {
  talk.tell(fill(prompts.grace, new Map([["limit", limit]])));
  const { controller, release } = following(context.signal);
  const clear = startTimer(
    () => controller.abort(stopped("the last turn, in which the agent returns its result, took too long")),
    ms,
  );
  try {
    const turn = await talk.next(controller.signal, { last: true });
    if (!("fault" in turn) || turn.fault.code !== "MODEL_CONTEXT") return turn;
    await talk.makeRoom(controller.signal, { force: true });
    return await talk.next(controller.signal, { last: true });
  } finally {
    clear();
    release();
  }
}
