import type { ModelEvent } from "../../core/model/model.ts";
import { isRecord } from "../../core/text/json.ts";
import { argumentsFrom } from "./call-arguments.ts";
import type { Endpoint } from "./endpoint.ts";
import { faultOfEvent, refused, tooLong } from "./fault.ts";
import { type AnswerReader, appendText } from "./wire.ts";

/** A content block in the provider's format. */
export type Block = Readonly<Record<string, unknown>>;

/** The provider whose content blocks may be sent back to it unchanged. */
export const CARRIED = "anthropic";

/** Reads one answer of Anthropic's API: blocks of text, thinking and calls, each with a start, pieces and an end. */
export function readAnthropicAnswer(endpoint: Endpoint): AnswerReader {
  const blocks = new Map<number, Building>();
  let usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let stop: string | undefined;
  const count = (given: unknown): void => {
    if (!isRecord(given)) return;
    const number = (name: string, before: number): number => (typeof given[name] === "number" ? given[name] : before);
    usage = {
      input: number("input_tokens", usage.input),
      output: number("output_tokens", usage.output),
      cacheRead: number("cache_read_input_tokens", usage.cacheRead),
      cacheWrite: number("cache_creation_input_tokens", usage.cacheWrite),
    };
  };

  return {
    take: (event, out) => {
      switch (event["type"]) {
        case "message_start":
          count(isRecord(event["message"]) ? event["message"]["usage"] : undefined);
          break;
        case "content_block_start":
          blocks.set(Number(event["index"]), begun(event["content_block"], out));
          break;
        case "content_block_delta": {
          const block = blocks.get(Number(event["index"]));
          if (block && isRecord(event["delta"])) grow(block, event["delta"], out);
          break;
        }
        case "message_delta":
          count(event["usage"]);
          if (isRecord(event["delta"]) && typeof event["delta"]["stop_reason"] === "string")
            stop = event["delta"]["stop_reason"];
          break;
        case "error":
          return faultOfEvent(event, endpoint);
        default: // `ping`, ends of blocks, and unknown events are ignored
          break;
      }
      return undefined;
    },
    finish: (out) => {
      if (stop === undefined) return undefined;
      if (stop === "refusal") return refused(endpoint);
      if (stop === "model_context_window_exceeded") return tooLong(endpoint);
      if (stop === "max_tokens")
        out.push({ type: "notice", code: "MODEL_CUT", text: "The answer reached the maximum length and was cut off." });
      for (const block of blocks.values()) {
        if (block.type === "tool_use")
          out.push({ type: "call", call: { id: block.id, name: block.name, input: argumentsFrom(block.json) } });
      }
      const carried = [...blocks.values()].some(({ type }) => type === "thinking" || type === "redacted_thinking");
      return { usage, ...(carried && { carry: { by: CARRIED, data: [...blocks.values()].flatMap(asSent) } }) };
    },
  };
}

/** A content block of the answer that is still arriving. */
type Building =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; json: string };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function begun(given: unknown, out: ModelEvent[]): Building {
  const block = isRecord(given) ? given : {};
  switch (block["type"]) {
    case "thinking":
      return { type: "thinking", thinking: text(block["thinking"]), signature: text(block["signature"]) };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: text(block["data"]) };
    case "tool_use": {
      const whole =
        isRecord(block["input"]) && Object.keys(block["input"]).length > 0 ? JSON.stringify(block["input"]) : "";
      return { type: "tool_use", id: text(block["id"]), name: text(block["name"]), json: whole };
    }
    default:
      appendText(out, "text", text(block["text"]));
      return { type: "text", text: text(block["text"]) };
  }
}

function grow(block: Building, delta: Readonly<Record<string, unknown>>, out: ModelEvent[]): void {
  switch (block.type) {
    case "text":
      block.text += text(delta["text"]);
      appendText(out, "text", text(delta["text"]));
      break;
    case "thinking":
      block.thinking += text(delta["thinking"]);
      block.signature += text(delta["signature"]);
      appendText(out, "thinking", text(delta["thinking"]));
      break;
    case "tool_use":
      block.json += text(delta["partial_json"]);
      break;
    case "redacted_thinking":
      break;
  }
}

/** A finished block in the form in which it is sent back to the provider. */
function asSent(block: Building): Block[] {
  if (block.type === "text" && block.text === "") return [];
  if (block.type !== "tool_use") return [block];
  const input = argumentsFrom(block.json);
  return [{ type: "tool_use", id: block.id, name: block.name, input: isRecord(input) ? input : {} }];
}
