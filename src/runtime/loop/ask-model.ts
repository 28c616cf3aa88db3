import { estimateTokens } from "../../core/model/compact.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import { addCost, addUsage, type Cost, noCost, type Usage } from "../../core/outcome/usage.ts";
import { calculateBackoff } from "../../core/plan/retry.ts";
import type { BudgetRefusal, Reservation } from "../../core/run/budget.ts";
import { cutTurn, type OpenTurn } from "../../core/run/cut-turn.ts";
import type { ReservedTurn } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { type Follower, following, pause, stopped } from "../async/cancel.ts";
import { createProviderParking } from "./park.ts";
import { type AnsweredTurn, type Turn, takeTurn } from "./turn.ts";

/** The largest answer that is requested when tokens or money are limited, in tokens. */
const MAX_ANSWER_TOKENS = 8_192;
/** The smallest answer that is requested, even with a small budget, in tokens. */
const MIN_ANSWER_TOKENS = 256;
/** Number of retries for an answer that ended early or did not begin in time, and the wait before the first. */
const RESTARTS = 3;
const FIRST_RESTART_MS = 500;
/** The share by which a wait is extended at random, so that many tasks do not retry at once. */
const JITTER = 0.25;
/** Matches the error of a provider or model that does not allow the tool choice of a request. */
const TOOL_CHOICE = /tool[_ ]?choice/i;
const URGENT = "an urgent message arrived";
const REVOKED = "the budget is used up";

/** A model turn to request. `last`: only returning the result is possible. `begin` is called whenever the request is sent. */
export type AskedTurn = Readonly<{
  turn: number;
  last: boolean;
  reserved: ReservedTurn;
  /** The remaining tokens of the run, if the caller already knows them. */
  room?: Readonly<{ tokens: number | undefined }> | undefined;
  begin(turn: number): void;
}>;

type Spending = Readonly<{ usage: Partial<Usage>; cost: Cost }>;

/** The model requests of one task: each within the budget of the run, and all of them counted. */
export class ModelCalls {
  readonly #assignment: Pick<Assignment, "call" | "model" | "limits">;
  readonly #context: PerformContext;
  readonly #park: ReturnType<typeof createProviderParking>;
  #usage: Usage;
  #cost: Cost;
  /**
   * A controller that can stop one turn. All turns of the task use the same controller until a turn is stopped, because
   * creating a controller costs more than the rest of a turn's set-up.
   */
  #stopper: (Follower & Readonly<{ parent: AbortSignal }>) | undefined;

  /** `past`: the usage of the task before a resume. */
  constructor(
    assignment: Pick<Assignment, "call" | "model" | "limits">,
    context: PerformContext,
    past: Readonly<{ usage: Usage; cost: Cost }>,
  ) {
    this.#assignment = assignment;
    this.#context = context;
    this.#park = createProviderParking(assignment, context);
    this.#usage = past.usage;
    this.#cost = past.cost;
  }

  spend(more: Spending): void {
    this.#usage = addUsage(this.#usage, more.usage);
    this.#cost = addCost(this.#cost, more.cost);
  }

  spent(): Readonly<{ usage: Usage; cost: Cost }> {
    return { usage: this.#usage, cost: this.#cost };
  }

  /** The tokens and cost to reserve for a request with this number of characters. */
  reservedFor(chars: number): ReservedTurn {
    const { model } = this.#assignment;
    const input = estimateTokens(chars);
    const usd = model.price?.({ input, output: 0 });
    const usdPerToken = model.price?.({ input: 0, output: 1 });
    return { input, ...defined({ usd, usdPerToken }) };
  }

  /** Requests one model turn. An answer that is cut off is requested again. */
  async ask(wanted: ModelRequest, signal: AbortSignal, asked: AskedTurn): Promise<Turn | BudgetRefusal> {
    let request = wanted;
    let { room } = asked;
    for (let n = 1; ; n += 1) {
      const turn = await this.#askOnce(request, signal, { ...asked, room });
      room = undefined;
      if ("revoked" in turn) {
        this.#context.emit({ type: "turn.restarted", turn: asked.turn, reason: REVOKED, delayMs: 0, ...turn.revoked });
        continue; // the loop checks the remaining budget before it retries the request
      }
      if ("fault" in turn && !turn.begun && request.toolChoice !== "auto" && TOOL_CHOICE.test(turn.fault.message)) {
        request = { ...request, toolChoice: "auto" };
        continue;
      }
      if ("fault" in turn && !turn.begun && !asked.last && !signal.aborted) {
        const parked = await this.#park(turn.fault);
        if (parked === "stopped") return { aborted: true, text: "" };
        if (parked === "goes on") continue;
      }
      if (!this.#mayRestart(turn, n) || signal.aborted) return turn;
      const delayMs = this.#restart(turn, n, asked);
      if (!(await pause(delayMs, signal))) return { aborted: true, text: "" };
    }
  }

  /** A task that may be attempted only once sends each request only once. */
  #mayRestart(turn: Turn | BudgetRefusal, n: number): turn is FaultyTurn {
    const isCut = "fault" in turn && turn.fault.retryable && (turn.begun || turn.fault.code === "TIMEOUT");
    return isCut && n <= (this.#assignment.call.task.retry?.maxAttempts === 1 ? 0 : RESTARTS);
  }

  /** Records that a turn is requested again; returns how long to wait before. */
  #restart({ fault, text, begun }: FaultyTurn, n: number, { turn, reserved }: AskedTurn): number {
    const { call } = this.#assignment;
    const stretch = 1 + JITTER * fractionOf(`${call.run}/${call.path} ${turn}.${n}`);
    const delayMs = Math.round(Math.max(fault.retryAfterMs ?? 0, calculateBackoff(FIRST_RESTART_MS, n)) * stretch);
    const spent = begun ? cutTurn({ reserved, chars: text.length }) : { usage: {}, cost: noCost() };
    this.#context.emit({ type: "turn.restarted", turn, reason: fault.message, delayMs, ...spent });
    return delayMs;
  }

  async #askOnce(
    request: ModelRequest,
    signal: AbortSignal,
    { turn: number, last, reserved, room: known, begin }: AskedTurn,
  ): Promise<Turn | BudgetRefusal | Readonly<{ revoked: Spending }>> {
    const { budget } = this.#context;
    const controller = this.#stopperFor(signal);
    const { input } = reserved;
    const room = known ? known.tokens : await budget.room();
    const output = answerTokens(room, input);
    const usd = this.#assignment.model.price?.({ input, output });
    const cut = { tokens: input, ...defined({ usd: reserved.usd }) };
    let isRevoked = false;
    let isOver = false;
    const revoke = (): void => {
      if (isOver) return; // the controller may already belong to the next turn
      isRevoked = true;
      controller.abort(stopped(REVOKED));
    };
    const held = await budget.reserve(
      { tokens: input + output, finish: last, cut, ...defined({ usd }) },
      revoke,
      signal,
    );
    if ("refused" in held) return held;
    begin(number);
    const limited = room === undefined && usd === undefined ? request : { ...request, maxOutputTokens: output };
    const { turn, isUrgent } = await this.#take(limited, { signal, controller, last });
    isOver = true;
    if ("calls" in turn) return this.#settled(turn, held);
    if ("fault" in turn && !turn.begun) held.release();
    else this.#spendCut({ reserved, chars: turn.text.length }, held);
    if (isUrgent && !signal.aborted) return { aborted: true, text: "", urgent: true };
    return isRevoked && !signal.aborted ? { revoked: cutTurn({ reserved, chars: turn.text.length }) } : turn;
  }

  /** Takes a turn, which an urgent message stops unless it is the last one. */
  async #take(
    request: ModelRequest,
    { signal, controller, last }: Readonly<{ signal: AbortSignal; controller: AbortController; last: boolean }>,
  ): Promise<{ turn: Turn; isUrgent: boolean }> {
    const { live, emit, onUrgent } = this.#context;
    const { model, limits } = this.#assignment;
    let isUrgent = false;
    const deaf = onUrgent?.(() => {
      isUrgent = !last;
      if (isUrgent) controller.abort(stopped(URGENT));
    });
    const stopping = controller;
    const turn = await takeTurn(model.model, request, { signal, stopping, maxIdleMs: limits.maxIdleMs, live, emit });
    deaf?.();
    return { turn, isUrgent };
  }

  #settled(turn: AnsweredTurn, held: Reservation): AnsweredTurn {
    const { input, output, cacheRead, cacheWrite } = turn.usage;
    held.settle({ tokens: input + output + cacheRead + cacheWrite, usd: turn.cost.usd });
    this.spend(turn);
    return turn;
  }

  /** Counts the cost of an incomplete answer for the task and the run. */
  #spendCut(turn: OpenTurn, held: Reservation): void {
    const cut = cutTurn(turn);
    held.settle({ tokens: cut.usage.estimated ?? 0, usd: cut.cost.estimated ?? 0 });
    this.spend(cut);
  }

  #stopperFor(parent: AbortSignal): AbortController {
    if (this.#stopper?.parent !== parent || this.#stopper.controller.signal.aborted) {
      this.#stopper?.release();
      this.#stopper = { ...following(parent), parent };
    }
    return this.#stopper.controller;
  }
}

type FaultyTurn = Extract<Turn, { fault: unknown }>;

/** How many tokens an answer may have when the run has this many tokens left. */
function answerTokens(room: number | undefined, input: number): number {
  if (room === undefined) return MAX_ANSWER_TOKENS;
  return Math.min(MAX_ANSWER_TOKENS, Math.max(MIN_ANSWER_TOKENS, room - input));
}

/** A number in [0, 1) that depends only on the text. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
