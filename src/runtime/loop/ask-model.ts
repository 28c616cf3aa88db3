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
import { type Turn, takeTurn } from "./turn.ts";

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

/** The model requests of one task: each within the budget of the run, and all of them counted. */
export type ModelCalls = Readonly<{
  /** The tokens and cost to reserve for a request with this number of characters. */
  reservedFor(chars: number): ReservedTurn;
  /** Requests one model turn. An answer that is cut off is requested again. */
  ask(request: ModelRequest, signal: AbortSignal, asked: AskedTurn): Promise<Turn | BudgetRefusal>;
  spend(more: Spending): void;
  spent(): Readonly<{ usage: Usage; cost: Cost }>;
}>;

type Spending = Readonly<{ usage: Partial<Usage>; cost: Cost }>;

/** Creates the model requests of a task. `past`: its usage before a resume. */
export function createModelCalls(
  { call, model, limits }: Pick<Assignment, "call" | "model" | "limits">,
  context: PerformContext,
  past: Readonly<{ usage: Usage; cost: Cost }>,
): ModelCalls {
  const park = createProviderParking({ model }, context);
  let { usage, cost } = past;
  const spend: ModelCalls["spend"] = (more) => {
    usage = addUsage(usage, more.usage);
    cost = addCost(cost, more.cost);
  };

  /** Counts the cost of an incomplete answer for the task and the run. */
  const spendCut = (turn: OpenTurn, held: Reservation): void => {
    const cut = cutTurn(turn);
    held.settle({ tokens: cut.usage.estimated ?? 0, usd: cut.cost.estimated ?? 0 });
    spend(cut);
  };

  const restarts = call.task.retry?.maxAttempts === 1 ? 0 : RESTARTS; // a task that may be attempted only once sends each request only once
  const ask: ModelCalls["ask"] = async (wanted, signal, asked) => {
    let request = wanted;
    let { room } = asked;
    for (let n = 1; ; n += 1) {
      const turn = await askOnce(request, signal, asked, room);
      room = undefined;
      if ("revoked" in turn) {
        context.emit({ type: "turn.restarted", turn: asked.turn, reason: REVOKED, delayMs: 0, ...turn.revoked });
        continue; // the loop checks the remaining budget before it retries the request
      }
      if ("fault" in turn && !turn.begun && request.toolChoice !== "auto" && TOOL_CHOICE.test(turn.fault.message)) {
        request = { ...request, toolChoice: "auto" };
        continue;
      }
      if ("fault" in turn && !turn.begun && !asked.last && !signal.aborted) {
        const parked = await park(turn.fault);
        if (parked === "stopped") return { aborted: true, text: "" };
        if (parked === "goes on") continue;
      }
      const mayRestart = "fault" in turn && turn.fault.retryable && (turn.begun || turn.fault.code === "TIMEOUT");
      if (!mayRestart || n > restarts || signal.aborted) return turn;
      const stretch = 1 + JITTER * fractionOf(`${call.run}/${call.path} ${asked.turn}.${n}`);
      const wait = Math.max(turn.fault.retryAfterMs ?? 0, calculateBackoff(FIRST_RESTART_MS, n));
      const delayMs = Math.round(wait * stretch);
      const spent = turn.begun
        ? cutTurn({ reserved: asked.reserved, chars: turn.text.length })
        : { usage: {}, cost: noCost() };
      context.emit({ type: "turn.restarted", turn: asked.turn, reason: turn.fault.message, delayMs, ...spent });
      if (!(await pause(delayMs, signal))) return { aborted: true, text: "" };
    }
  };

  /**
   * A controller that can stop one turn. All turns of the task use the same controller until a turn is stopped, because
   * creating a controller costs more than the rest of a turn's set-up.
   */
  let stopper: (Follower & Readonly<{ parent: AbortSignal }>) | undefined;
  const stopperFor = (parent: AbortSignal): AbortController => {
    if (stopper?.parent !== parent || stopper.controller.signal.aborted) {
      stopper?.release();
      stopper = { ...following(parent), parent };
    }
    return stopper.controller;
  };

  const askOnce = async (
    request: ModelRequest,
    signal: AbortSignal,
    { turn: number, last, reserved, begin }: AskedTurn,
    known: AskedTurn["room"],
  ): Promise<Turn | BudgetRefusal | Readonly<{ revoked: Spending }>> => {
    const controller = stopperFor(signal);
    let isRevoked = false;
    let isOver = false;
    const { input } = reserved;
    const room = known ? known.tokens : await context.budget.room();
    const output = Math.min(
      MAX_ANSWER_TOKENS,
      room === undefined ? MAX_ANSWER_TOKENS : Math.max(MIN_ANSWER_TOKENS, room - input),
    );
    const usd = model.price?.({ input, output });
    const held = await context.budget.reserve(
      {
        tokens: input + output,
        finish: last,
        cut: { tokens: input, ...defined({ usd: reserved.usd }) },
        ...defined({ usd }),
      },
      () => {
        if (isOver) return; // the controller may already belong to the next turn
        isRevoked = true;
        controller.abort(stopped(REVOKED));
      },
      signal,
    );
    if ("refused" in held) return held;
    begin(number);
    const limited = room === undefined && usd === undefined ? request : { ...request, maxOutputTokens: output };
    let urgent = false;
    const deaf = context.onUrgent?.(() => {
      urgent = !last;
      if (urgent) controller.abort(stopped(URGENT));
    });
    const turn = await takeTurn(model.model, limited, {
      signal,
      stopping: controller,
      maxIdleMs: limits.maxIdleMs,
      live: context.live,
      emit: context.emit,
    });
    isOver = true;
    deaf?.();
    if (!("calls" in turn)) {
      if ("fault" in turn && !turn.begun) held.release();
      else spendCut({ reserved, chars: turn.text.length }, held);
      if (urgent && !signal.aborted) return { aborted: true, text: "", urgent };
      return isRevoked && !signal.aborted ? { revoked: cutTurn({ reserved, chars: turn.text.length }) } : turn;
    }
    held.settle({
      tokens: turn.usage.input + turn.usage.output + turn.usage.cacheRead + turn.usage.cacheWrite,
      usd: turn.cost.usd,
    });
    spend(turn);
    return turn;
  };

  return {
    reservedFor: (chars) => {
      const input = estimateTokens(chars);
      const usd = model.price?.({ input, output: 0 });
      const usdPerToken = model.price?.({ input: 0, output: 1 });
      return { input, ...defined({ usd, usdPerToken }) };
    },
    ask,
    spend,
    spent: () => ({ usage, cost }),
  };
}

/** A number in [0, 1) that depends only on the text. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
