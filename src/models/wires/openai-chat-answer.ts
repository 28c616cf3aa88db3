import type { TurnUsage } from "../../core/model/model.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { argumentsFrom } from "./call-arguments.ts";
import type { Endpoint } from "./endpoint.ts";
import { faultOfEvent, refused } from "./fault.ts";
import { type AnswerReader, appendText } from "./wire.ts";

/** Reads one answer of OpenAI's chat API: pieces of text, of thinking and of calls. */
export function readChatAnswer(endpoint: Endpoint): AnswerReader {
  const { provider, quirks } = endpoint;
  const calls: Building[] = [];
  let usage: TurnUsage | undefined;
  let finish: string | undefined;
  let thinking = "";
  const details: unknown[] = [];

  const takeCall = (given: unknown): void => {
    if (!isRecord(given)) return;
    const { id, name, json } = pieceOf(given);
    const at = isIndex(given["index"]) ? given["index"] : undefined;
    // Some providers omit the index, or give every tool call the first index; a new id then means a new call.
    const known = at === undefined ? (id === "" ? calls.at(-1) : calls.find((call) => call.id === id)) : calls[at];
    const other = known !== undefined && id !== "" && known.id !== "" && known.id !== id && name !== "";
    if (known === undefined || other) {
      const call = { id: id || `call_${calls.length + 1}`, name, json };
      if (at === undefined || other) calls.push(call);
      else calls[at] = call;
      return;
    }
    known.name ||= name;
    known.json += json;
  };

  return {
    take: (event, out) => {
      if (isRecord(event["error"])) return faultOfEvent(event, endpoint);
      usage = usageIn(event) ?? usage;
      const choice: unknown = Array.isArray(event["choices"]) ? event["choices"][0] : undefined;
      if (!isRecord(choice)) return undefined;
      if (typeof choice["finish_reason"] === "string") finish = choice["finish_reason"];
      const delta = choice["delta"];
      if (!isRecord(delta)) return undefined;
      const thought = delta["reasoning_content"] ?? delta["reasoning"];
      if (typeof thought === "string") {
        thinking += thought;
        appendText(out, "thinking", thought);
      }
      if (Array.isArray(delta["reasoning_details"])) details.push(...(delta["reasoning_details"] as unknown[]));
      if (typeof delta["content"] === "string") appendText(out, "text", delta["content"]);
      if (Array.isArray(delta["tool_calls"])) for (const call of delta["tool_calls"]) takeCall(call);
      return undefined;
    },
    finish: (out) => {
      if (finish === undefined) return undefined;
      if (finish === "content_filter") return refused(endpoint);
      if (finish === "length")
        out.push({ type: "notice", code: "MODEL_CUT", text: "The answer reached the maximum length and was cut off." });
      for (const { id, name, json } of calls.filter((call) => call !== undefined)) {
        out.push({ type: "call", call: { id, name, input: argumentsFrom(json) } });
      }
      const data = quirks.returnThinking === "reasoning_details" ? details : thinking;
      const carried = quirks.returnThinking !== undefined && data.length > 0;
      return { ...defined({ usage }), ...(carried && { carry: { by: provider, data } }) };
    },
  };
}

/** A larger number would make the list of calls as long. */
const isIndex = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1_000;

type Building = { id: string; name: string; json: string };

function pieceOf(call: Readonly<Record<string, unknown>>): Building {
  const made = isRecord(call["function"]) ? call["function"] : {};
  const given = made["arguments"];
  return {
    id: typeof call["id"] === "string" ? call["id"] : "",
    name: typeof made["name"] === "string" ? made["name"] : "",
    json: typeof given === "string" ? given : isRecord(given) ? JSON.stringify(given) : "",
  };
}

/**
 * Tokens of an answer; `input` excludes tokens that were read from the cache. Some providers use field names of their
 * own.
 */
function usageIn(event: Readonly<Record<string, unknown>>): TurnUsage | undefined {
  const own = isRecord(event["x_groq"]) ? event["x_groq"]["usage"] : undefined;
  const given = isRecord(event["usage"]) ? event["usage"] : own;
  if (!isRecord(given)) return undefined;
  const number = (holder: unknown, name: string): number => {
    const value = isRecord(holder) ? holder[name] : undefined;
    return typeof value === "number" ? value : 0;
  };
  const total = number(given, "prompt_tokens");
  const cacheRead = number(given["prompt_tokens_details"], "cached_tokens") || number(given, "prompt_cache_hit_tokens");
  const cacheWrite = number(given["prompt_tokens_details"], "cache_write_tokens");
  const reasoning = number(given["completion_tokens_details"], "reasoning_tokens");
  const input = Math.max(0, total - cacheRead - cacheWrite);
  return { input, output: number(given, "completion_tokens"), cacheRead, cacheWrite, reasoning };
}
