import type { PerformContext } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import type { Model, ModelRequest, ToolCall, TurnUsage } from "../core/model.ts";
import type { Fault } from "../core/outcome.ts";
import { noUsage, type Cost, type Usage } from "../core/usage.ts";

/** What one call of the model gave. */
export type Turn = Readonly<{ text: string; calls: readonly ToolCall[]; usage: Usage; cost: Cost }> | Readonly<{ fault: Fault; text: string }> | Readonly<{ aborted: true; text: string }>;

/** Calls the model once and gathers its answer, showing it as it comes. */
export async function takeTurn(model: Model, request: ModelRequest, signal: AbortSignal, live: PerformContext["live"]): Promise<Turn> {
  let text = "";
  const calls: ToolCall[] = [];
  try {
    for await (const event of model(request, signal)) {
      if (signal.aborted) return { aborted: true, text };
      switch (event.type) {
        case "text":
          text += event.text;
          live({ type: "text.delta", text: event.text });
          break;
        case "thinking":
          live({ type: "thinking.delta", text: event.text });
          break;
        case "call":
          calls.push(event.call);
          break;
        case "end":
          return { text, calls, usage: usageOf(event.usage), cost: event.cost === undefined ? { usd: 0, unpriced: 1 } : { usd: event.cost, unpriced: 0 } };
        case "error":
          return signal.aborted ? { aborted: true, text } : { fault: event.fault, text };
      }
    }
  } catch (thrown) {
    if (signal.aborted) return { aborted: true, text };
    return { fault: { code: "MODEL_BAD_ANSWER", message: `The model broke: ${messageOf(thrown)}`, retryable: true }, text };
  }
  if (signal.aborted) return { aborted: true, text };
  return { fault: { code: "MODEL_BAD_ANSWER", message: "The model's answer broke off before its end.", retryable: true }, text };
}

function usageOf({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: TurnUsage): Usage {
  return { ...noUsage(), input, output, cacheRead, cacheWrite, reasoning, contextTokens: input + cacheRead + cacheWrite, turns: 1 };
}
