import { type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { codeOfLimit } from "../../core/outcome/reached-limit.ts";
import {
  endingAt,
  idleEnding,
  notBegun,
  recordedEnding,
  type TaskEnding,
  unpriced,
} from "../../core/outcome/task-ending.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { taskContext } from "../../core/task/task-context.ts";
import { defined } from "../../core/text/defined.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { following, reasonOf, stopped } from "../async/cancel.ts";
import { type Deadline, deadlineOf } from "../async/deadline.ts";
import { createLimitWatch, nearTime } from "../async/limit-watch.ts";
import { startTimer } from "../async/long-timer.ts";
import { AgentResult, type EndedEarly } from "./agent-result.ts";
import { Conversation, isBudgetRefusal } from "./conversation.ts";
import { parkForBudget } from "./park.ts";
import type { UnfinishedTurn } from "./rebuild-conversation.ts";
import type { AnsweredTurn, Turn } from "./turn.ts";

/** The local runner: the model and its tools take turns until there is a result or a limit is reached. */
export async function loop(assignment: Assignment, context: PerformContext): Promise<Outcome> {
  const recorded = await context.past();
  const clock = deadlineOf(assignment.limits, context, () => context.emit(nearTime(assignment.limits)));
  const own = taskContext(context, { conversation: () => talk.forkPoint(), standing: clock.standing });
  const talk: Conversation = new Conversation(assignment, own, recorded);
  try {
    const outcome = await new AgentLoop(assignment, own, talk, clock).run();
    context.remember?.(talk.messages());
    return { ...outcome, ...talk.spent() };
  } finally {
    clock.stop();
  }
}

/** One agent at work. After a limit it gets one more turn; a missing or invalid result is requested again. */
class AgentLoop {
  readonly #assignment: Assignment;
  readonly #context: PerformContext;
  readonly #talk: Conversation;
  readonly #clock: Deadline;
  readonly #limitReached: ReturnType<typeof createLimitWatch>;
  readonly #result: AgentResult;
  /** The turn that was taken before a resume, and that is not answered yet. */
  #taken: UnfinishedTurn | undefined;
  /** The last text of the agent. */
  #last: string;
  /** True after a turn that did not fit into the context. */
  #overflowed = false;

  constructor(assignment: Assignment, context: PerformContext, talk: Conversation, clock: Deadline) {
    this.#assignment = assignment;
    this.#context = context;
    this.#talk = talk;
    this.#clock = clock;
    this.#limitReached = createLimitWatch(assignment.limits, context.emit);
    this.#result = new AgentResult(assignment, talk);
    this.#taken = talk.unfinished;
    this.#last = talk.unfinished?.turn.text ?? "";
  }

  /** Takes turns until there is an outcome. */
  async run(): Promise<Outcome> {
    for (;;) {
      const taken = this.#taken;
      this.#taken = undefined;
      if (taken?.limit !== undefined)
        return this.#lastTurn(recordedEnding(taken.limit, this.#assignment.limits), taken);
      const turn = taken?.turn ?? (await this.#ask());
      const ended = turn && "calls" in turn ? await this.#answer(turn, taken?.known) : turn;
      if (ended) return ended;
    }
  }

  /** Requests a turn; returns the outcome if the task ends instead, and `undefined` to request again. */
  async #ask(): Promise<AnsweredTurn | Outcome | undefined> {
    const { limits } = this.#assignment;
    if (this.#talk.idle) return this.#lastTurn(recordedEnding(this.#talk.idle, limits));
    const limit = this.#limitReached(this.#talk.turns(), this.#clock.passed());
    if (limit) return this.#lastTurn(endingAt(limit));
    const turn = await this.#talk.next(this.#clock.signal, { last: this.#result.isNext });
    if (isBudgetRefusal(turn)) return this.#refused(turn);
    this.#last = turn.text || this.#last;
    if ("fault" in turn) {
      if (turn.fault.code !== "MODEL_CONTEXT" || this.#overflowed)
        return this.#partly({ status: "failed", fault: turn.fault });
      this.#overflowed = true;
      await this.#talk.makeRoom(this.#clock.signal, { force: true });
      return undefined;
    }
    if ("aborted" in turn)
      return turn.urgent || (this.#clock.passed() && !this.#context.signal.aborted) ? undefined : this.#cancelled();
    this.#overflowed = false;
    return turn;
  }

  /** Carries out the tool calls of a turn, or takes its text as the result. */
  async #answer(turn: AnsweredTurn, known: UnfinishedTurn["known"] | undefined): Promise<Outcome | undefined> {
    const reply = await this.#talk.answer(turn, this.#clock.signal, known);
    if (this.#context.signal.aborted) return this.#cancelled();
    if (reply.is === "more") return undefined;
    if (reply.is === "limit") return this.#refused(reply.refusal);
    if (reply.is === "idle") {
      const { code, text } = reply;
      this.#context.emit({ type: "limit.reached", limit: code, text, enforced: true });
      return this.#lastTurn(idleEnding(code, text));
    }
    // Messages that arrived meanwhile, and results of the agent's subagents, still get a model turn.
    if (await this.#talk.readMail(this.#clock.signal)) return undefined;
    return this.#result.take(turn, reply.finish, this.#last);
  }

  /**
   * Handles a turn that the budget refuses. Returns the outcome that ends the task, or `undefined` if the task waited
   * until the budget allowed turns again.
   */
  async #refused(refusal: BudgetRefusal): Promise<Outcome | undefined> {
    const parked = await parkForBudget(refusal, this.#assignment, this.#context);
    if (parked === "goes on") return undefined;
    if (parked === "stopped") return this.#cancelled();
    if ("unpriced" in refusal) return this.#partly(unpriced(this.#assignment.model.name));
    const { limit: reached } = refusal;
    const code = codeOfLimit(reached);
    const text = `The budget is used up: ${refusal.refused}.`;
    this.#context.emit({ type: "limit.reached", limit: code, text, enforced: true, reached });
    const limit = { code, limit: reached };
    return this.#talk.turns() === 0 ? notBegun(limit) : this.#lastTurn(endingAt(limit));
  }

  /**
   * The one turn that a task gets to return its result, after it reached a limit or made no progress. `taken`: the turn
   * was already used before a resume.
   */
  async #lastTurn({ words, limit, fail }: TaskEnding, taken?: UnfinishedTurn): Promise<Outcome> {
    const { signal } = this.#context;
    const turn = taken?.turn ?? (await this.#askLast(words));
    const partial = (isBudgetRefusal(turn) ? "" : turn.text) || this.#last;
    if (signal.aborted) return withPartial({ status: "cancelled", reason: reasonOf(signal) }, partial);
    const reply = "calls" in turn ? await this.#talk.answer(turn, signal, taken?.known) : undefined;
    if (reply?.is === "over" && "output" in reply.finish)
      return { status: "ok", ...reply.finish, ...defined({ limit }) };
    const fault = fail("fault" in turn ? ` The last turn failed: ${withFullStop(turn.fault.message)}` : "");
    return { ...withPartial(fault, partial), ...defined({ limit }) };
  }

  async #askLast(limit: string): Promise<Turn | BudgetRefusal> {
    this.#talk.tell(fill(prompts.grace, new Map([["limit", limit]])));
    const { controller, release } = following(this.#context.signal);
    const late = stopped("the last turn, in which the agent returns its result, took too long");
    const clear = startTimer(() => controller.abort(late), this.#assignment.limits.graceMs);
    try {
      const turn = await this.#talk.next(controller.signal, { last: true });
      if (!("fault" in turn) || turn.fault.code !== "MODEL_CONTEXT") return turn;
      await this.#talk.makeRoom(controller.signal, { force: true });
      return await this.#talk.next(controller.signal, { last: true });
    } finally {
      clear();
      release();
    }
  }

  #cancelled(): Outcome {
    return this.#partly({ status: "cancelled", reason: this.#clock.reason() });
  }

  #partly(outcome: EndedEarly): Outcome {
    return this.#result.partly(outcome, this.#last);
  }
}
