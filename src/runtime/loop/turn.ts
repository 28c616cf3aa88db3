import { boundedCall } from "../../core/task/tool-specs.ts";
import { LONGEST_TIMER_MS } from "../async/long-timer.ts";
import type { ProviderData, Model, ModelRequest, ToolCall, TurnUsage } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { type Cost, noUsage, nonNegative, nonNegativeUsage, type Usage } from "../../core/outcome/usage.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { following, stopped } from "../async/cancel.ts";

/** The result of one model turn. */
export type Turn =
  | AnsweredTurn
  | Readonly<{
      fault: Fault;
      text: string;
      /** True: a part of the answer had already arrived. */
      begun: boolean;
    }>
  | Readonly<{
      aborted: true;
      text: string;
      /** True: an urgent message interrupted the turn. */
      urgent?: true;
    }>;
export type AnsweredTurn = Readonly<{
  thinking?: string;
  text: string;
  calls: readonly ToolCall[];
  usage: Usage;
  cost: Cost;
  carry?: ProviderData;
  /** The model that answered, if it differs from the requested model. */
  model?: string;
}>;

export type TurnOptions = Readonly<{
  signal: AbortSignal;
  /** A controller that aborts with the signal, and that can also stop only this turn. */
  stopping?: AbortController;
  /** How long the model may send nothing, in milliseconds. */
  maxIdleMs: number;
  live: PerformContext["live"];
  emit: PerformContext["emit"];
}>;

/** Calls the model once, streams its answer and collects it. An idle timeout is a failure. */
export async function takeTurn(
  model: Model,
  request: ModelRequest,
  { signal, stopping, maxIdleMs, live, emit }: TurnOptions,
): Promise<Turn> {
  const { controller, release } = stopping ? { controller: stopping, release: undefined } : following(signal);
  const { signal: own } = controller;
  let isSilent = false;
  const idle = setTimeout(
    () => {
      isSilent = !own.aborted;
      controller.abort(stopped("idle"));
    },
    Math.min(maxIdleMs, LONGEST_TIMER_MS),
  );
  const isStopped = (): boolean => signal.aborted || (own.aborted && !isSilent);
  let text = "";
  let thinking = "";
  let begun = false;
  const calls: ToolCall[] = [];
  const broken = (fault: Fault): Turn => {
    if (isStopped()) return { aborted: true, text };
    return { fault: isSilent ? silent(maxIdleMs) : fault, text, begun };
  };
  try {
    for await (const event of model(request, own)) {
      if (isStopped()) return { aborted: true, text };
      idle.refresh();
      begun ||= event.type === "text" || event.type === "thinking" || event.type === "call";
      switch (event.type) {
        case "text":
          text += event.text;
          live({ type: "text.delta", text: event.text });
          break;
        case "thinking":
          thinking += event.text;
          live({ type: "thinking.delta", text: event.text });
          break;
        case "call":
          calls.push(boundedCall(event.call));
          break;
        case "notice":
          emit({ type: "warning", code: event.code, text: event.text });
          break;
        case "end":
          return {
            ...(thinking !== "" && { thinking }),
            text,
            calls,
            usage: usageOf(event.usage),
            cost: {
              ...(event.cost === undefined ? { usd: 0, unpriced: 1 } : { usd: nonNegative(event.cost), unpriced: 0 }),
              ...defined({ saved: event.saved }),
            },
            ...defined({ carry: event.carry, model: event.model }),
          };
        case "error":
          return broken(event.fault);
      }
    }
    return broken({
      code: "MODEL_BAD_ANSWER",
      message: "The model's answer ended early.",
      retryable: true,
    });
  } catch (thrown) {
    return broken({ code: "MODEL_BAD_ANSWER", message: `The model failed: ${messageOf(thrown)}`, retryable: true });
  } finally {
    clearTimeout(idle);
    release?.();
  }
}

function silent(ms: number): Fault {
  return {
    code: "TIMEOUT",
    message: `The model sent nothing for ${formatDuration(ms)}.`,
    hint: "Try again, or choose another model.",
    retryable: true,
  };
}

function usageOf(told: TurnUsage): Usage {
  const used = { ...noUsage(), ...nonNegativeUsage(told), turns: 1 };
  return { ...used, contextTokens: used.input + used.cacheRead + used.cacheWrite };
}
