import { argumentsOf, piecesOf, SOME_USAGE, type SpokenTurn } from "./provider-turn.ts";
import { type AnswerFacts, data, type ProviderDialect } from "./wire.ts";

/** Chat completions, as OpenAI and compatible providers implement it. */
export const chatWire: ProviderDialect = {
  name: "openai-chat",
  matches: (path) => path.endsWith("/chat/completions"),
  asks: ({ model, stream }) => ({ model: String(model), stream: stream === true }),
  events: (turn, about) => {
    const chunk = (delta: object, finish: string | null = null): string =>
      data({ ...head(about, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: finish }] });
    const events = [chunk({ role: "assistant", content: "" })];
    if (turn.thinking !== undefined) events.push(chunk({ reasoning_content: turn.thinking }));
    for (const content of piecesOf(turn.text)) events.push(chunk({ content }));
    for (const [index, call] of (turn.calls ?? []).entries()) {
      const started = { index, id: call.id ?? `call_${about.n}_${index}`, type: "function" };
      events.push(chunk({ tool_calls: [{ ...started, function: { name: call.name, arguments: "" } }] }));
      for (const part of halves(argumentsOf(call))) {
        events.push(chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
      }
    }
    events.push(chunk({}, finishOf(turn)));
    events.push(data({ ...head(about, "chat.completion.chunk"), choices: [], usage: usageOf(turn) }));
    events.push("data: [DONE]\n\n");
    return events;
  },
  whole: (turn, about) => {
    const calls = (turn.calls ?? []).map((call, index) => ({
      id: call.id ?? `call_${about.n}_${index}`,
      type: "function",
      function: { name: call.name, arguments: argumentsOf(call) },
    }));
    const message = {
      role: "assistant",
      content: piecesOf(turn.text).join("") || null,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choice = { index: 0, message, finish_reason: finishOf(turn) };
    return { ...head(about, "chat.completion"), choices: [choice], usage: usageOf(turn) };
  },
  error: ({ type, message, code }) => ({ error: { message, type, param: null, code: code ?? null } }),
  errorEvent: ({ message = "The server had an error." }) => data({ error: { message, type: "server_error" } }),
};

const head = ({ model, n }: AnswerFacts, object: string): object => ({
  id: `chatcmpl-${n}`,
  object,
  created: 0,
  model,
});

function finishOf({ finish = "done", calls = [] }: SpokenTurn): string {
  if (finish === "length") return "length";
  if (finish === "filter") return "content_filter";
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageOf({ usage = SOME_USAGE }: SpokenTurn): object {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** Splits arguments in two parts, since real providers send them in parts. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((part) => part !== "");
}
