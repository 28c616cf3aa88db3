import { argumentsOf, piecesOf, SOME_USAGE, type SpokenTurn } from "./provider-turn.ts";
import { named, type ProviderDialect } from "./wire.ts";
import { halves } from "./wire-chat.ts";

/** The messages API of Anthropic, for the simulated provider. */
export const anthropic: ProviderDialect = {
  name: "anthropic",
  matches: (path) => path.endsWith("/messages"),
  asks: ({ model, stream }) => ({ model: String(model), stream: stream === true }),
  events: (turn, { model, n }) => {
    const message = { id: `msg_${n}`, type: "message", role: "assistant", model, content: [], stop_reason: null };
    const events = [
      named("message_start", {
        message: { ...message, stop_sequence: null, usage: { ...inputUsage(turn), output_tokens: 1 } },
      }),
      named("ping", {}),
    ];
    let index = 0;
    const block = (content_block: object, deltas: readonly object[]): void => {
      events.push(named("content_block_start", { index, content_block }));
      for (const delta of deltas) events.push(named("content_block_delta", { index, delta }));
      events.push(named("content_block_stop", { index }));
      index += 1;
    };
    if (turn.thinking !== undefined) {
      const deltas = [
        { type: "thinking_delta", thinking: turn.thinking },
        { type: "signature_delta", signature: `signed-${n}` },
      ];
      block({ type: "thinking", thinking: "", signature: "" }, deltas);
    }
    const pieces = piecesOf(turn.text);
    if (pieces.length > 0) {
      block(
        { type: "text", text: "" },
        pieces.map((text) => ({ type: "text_delta", text })),
      );
    }
    for (const [i, call] of (turn.calls ?? []).entries()) {
      const parts = halves(argumentsOf(call)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
      block({ type: "tool_use", id: call.id ?? `toolu_${n}_${i}`, name: call.name, input: {} }, parts);
    }
    const output_tokens = (turn.usage ?? SOME_USAGE).output;
    const delta = { stop_reason: stopOf(turn), stop_sequence: null };
    events.push(named("message_delta", { delta, usage: { output_tokens } }), named("message_stop", {}));
    return events;
  },
  whole: (turn, { model, n }) => {
    const text = piecesOf(turn.text).join("");
    const content = [
      ...(turn.thinking === undefined ? [] : [{ type: "thinking", thinking: turn.thinking, signature: `signed-${n}` }]),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...(turn.calls ?? []).map((call, i) => ({
        type: "tool_use",
        id: call.id ?? `toolu_${n}_${i}`,
        name: call.name,
        input: call.input ?? {},
      })),
    ];
    const usage = { ...inputUsage(turn), output_tokens: (turn.usage ?? SOME_USAGE).output };
    const stop = { stop_reason: stopOf(turn), stop_sequence: null };
    return { id: `msg_${n}`, type: "message", role: "assistant", model, content, ...stop, usage };
  },
  error: ({ type, message }) => ({ type: "error", error: { type, message }, request_id: "req_1" }),
  errorEvent: ({ message = "Overloaded" }) => named("error", { error: { type: "overloaded_error", message } }),
};

function stopOf({ finish = "done", calls = [] }: SpokenTurn): string {
  if (finish === "length") return "max_tokens";
  if (finish === "filter") return "refusal";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function inputUsage({ usage = SOME_USAGE }: SpokenTurn): object {
  return {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
  };
}
