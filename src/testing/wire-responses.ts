import { argumentsOf, piecesOf, SOME_USAGE, type SpokenTurn } from "./provider-turn.ts";
import { type AnswerFacts, named, type ProviderDialect } from "./wire.ts";
import { halves } from "./wire-chat.ts";

/** The responses API of OpenAI, for the simulated provider. */
export const responses: ProviderDialect = {
  name: "openai-responses",
  matches: (path) => path.endsWith("/responses"),
  asks: ({ model, stream }) => ({ model: String(model), stream: stream === true }),
  events: (turn, about) => {
    const { finish } = turn;
    const events: string[] = [];
    const say = (type: string, value: object): void => {
      events.push(named(type, { sequence_number: events.length, ...value }));
    };
    const begun = { ...head(about), status: "in_progress", output: [], usage: null };
    say("response.created", { response: begun });
    say("response.in_progress", { response: begun });
    for (const [output_index, item] of itemsOf(turn, about).entries()) {
      const item_id = item.id;
      say("response.output_item.added", { output_index, item: { ...item, ...blank[item.type] } });
      if (item.type === "reasoning") {
        const place = { item_id, output_index, summary_index: 0 };
        say("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } });
        say("response.reasoning_summary_text.delta", { ...place, delta: turn.thinking });
        say("response.reasoning_summary_text.done", { ...place, text: turn.thinking });
        say("response.reasoning_summary_part.done", { ...place, part: { type: "summary_text", text: turn.thinking } });
      } else if (item.type === "message") {
        const place = { item_id, output_index, content_index: 0 };
        say("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } });
        for (const delta of piecesOf(turn.text)) say("response.output_text.delta", { ...place, delta, logprobs: [] });
        say("response.output_text.done", { ...place, text: piecesOf(turn.text).join(""), logprobs: [] });
      } else {
        const place = { item_id, output_index };
        for (const delta of halves(item.arguments)) say("response.function_call_arguments.delta", { ...place, delta });
        say("response.function_call_arguments.done", { ...place, arguments: item.arguments });
      }
      say("response.output_item.done", { output_index, item });
    }
    const incomplete = finish === "length" || finish === "filter";
    say(incomplete ? "response.incomplete" : "response.completed", { response: complete(turn, about) });
    return events;
  },
  whole: complete,
  error: ({ type, message, code }) => ({ error: { message, type, param: null, code: code ?? null } }),
  errorEvent: ({ message = "The server had an error." }) =>
    named("error", { sequence_number: 2, error: { type: "server_error", code: "server_error", message, param: null } }),
};

type Item =
  | { type: "reasoning"; id: string; summary: object[]; encrypted_content: string }
  | { type: "message"; id: string; role: "assistant"; status: "completed"; content: object[] }
  | {
      type: "function_call";
      id: string;
      call_id: string;
      name: string;
      namespace?: string;
      status: "completed";
      arguments: string;
    };

/** The empty fields of an item when it is announced. */
const blank: Readonly<Record<Item["type"], object>> = {
  reasoning: { summary: [] },
  message: { status: "in_progress", content: [] },
  function_call: { status: "in_progress", arguments: "" },
};

function itemsOf(turn: SpokenTurn, { n }: AnswerFacts): Item[] {
  const items: Item[] = [];
  if (turn.thinking !== undefined) {
    const summary = [{ type: "summary_text", text: turn.thinking }];
    items.push({ type: "reasoning", id: `rs_${n}`, summary, encrypted_content: `sealed-${n}` });
  }
  const text = piecesOf(turn.text).join("");
  if (text !== "") {
    const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
    items.push({ type: "message", id: `msg_${n}`, role: "assistant", status: "completed", content });
  }
  for (const [i, call] of (turn.calls ?? []).entries()) {
    const call_id = call.id ?? `call_${n}_${i}`;
    const status = "completed";
    items.push({
      type: "function_call",
      id: `fc_${n}_${i}`,
      call_id,
      name: call.name,
      ...(call.namespace !== undefined && { namespace: call.namespace }),
      status,
      arguments: argumentsOf(call),
    });
  }
  return items;
}

function complete(turn: SpokenTurn, about: AnswerFacts): object {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = turn.usage ?? SOME_USAGE;
  const total = input + cacheRead + cacheWrite;
  const reason =
    turn.finish === "length" ? "max_output_tokens" : turn.finish === "filter" ? "content_filter" : undefined;
  return {
    ...head(about),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: itemsOf(turn, about),
    usage: {
      input_tokens: total,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: total + output,
    },
  };
}

function head({ model, n }: AnswerFacts): object {
  return { id: `resp_${n}`, object: "response", created_at: 0, model, error: null, incomplete_details: null };
}
