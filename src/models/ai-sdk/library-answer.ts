import type { LanguageModelV3Message, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { ModelEvent, TurnUsage } from "../../core/model/model.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { argumentsFrom } from "../wires/call-arguments.ts";

type Content = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
type Part = Content[number];

/**
 * Collects the parts of one answer: their current content, and the data that has to be sent back to the provider with
 * the next request.
 */
export function createParts(): { take(part: LanguageModelV3StreamPart): ModelEvent | undefined; carried(): Content } {
  const content: Part[] = [];
  const open = new Map<
    string,
    { type: "text" | "reasoning"; text: string; providerOptions?: Part["providerOptions"] }
  >();
  let marked = false;
  const note = (id: string, metadata: Part["providerOptions"]): void => {
    const part = open.get(id);
    if (part === undefined || metadata === undefined) return;
    part.providerOptions = metadata;
    marked = true;
  };
  return {
    take: (part) => {
      switch (part.type) {
        case "text-start":
        case "reasoning-start": {
          const begun = { type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const), text: "" };
          open.set(part.id, begun);
          content.push(begun);
          note(part.id, part.providerMetadata);
          return undefined;
        }
        case "text-delta":
        case "reasoning-delta": {
          const grown = open.get(part.id);
          if (grown) grown.text += part.delta;
          note(part.id, part.providerMetadata);
          if (part.delta === "") return undefined;
          return { type: part.type === "text-delta" ? "text" : "thinking", text: part.delta };
        }
        case "text-end":
        case "reasoning-end":
          note(part.id, part.providerMetadata);
          return undefined;
        case "tool-call": {
          if (part.providerExecuted === true) return undefined;
          const input = argumentsFrom(part.input);
          const { toolCallId, toolName, providerMetadata } = part;
          marked ||= providerMetadata !== undefined;
          const again = { type: "tool-call" as const, toolCallId, toolName, input: isRecord(input) ? input : {} };
          content.push({ ...again, ...defined({ providerOptions: providerMetadata }) });
          return { type: "call", call: { id: toolCallId, name: toolName, input } };
        }
        default:
          return undefined;
      }
    },
    carried: () => (marked ? content.filter((part) => part.type !== "text" || part.text !== "") : []),
  };
}

export type FinishPart = Extract<LanguageModelV3StreamPart, { type: "finish" }>;

/**
 * The finish reason as one word, in any version of the specification; `other` without the provider's own word means
 * that no reason was sent.
 */
export function finishReasonOf(finish: FinishPart | undefined): string {
  const reason: unknown = finish?.finishReason;
  if (typeof reason === "string") return reason === "unknown" ? "none" : reason;
  if (!isRecord(reason)) return "none";
  return reason["unified"] === "other" && reason["raw"] === undefined ? "none" : String(reason["unified"]);
}

/**
 * The token counts of an answer: nested as in version 3 and later of the specification, or flat as in version 2.
 *
 * In version 2 the providers of Claude models count cached tokens beside `inputTokens`, and report tokens written to
 * the cache only in their metadata; all other providers count cached tokens within `inputTokens`.
 */
export function usageOf(
  { usage, providerMetadata }: Readonly<{ usage?: unknown; providerMetadata?: unknown }> = {},
  provider = "",
): TurnUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const number = (value: unknown): number => (typeof value === "number" ? value : 0);
  const { inputTokens: input, outputTokens: output } = usage;
  if (isRecord(input) && isRecord(output)) {
    const cacheRead = number(input["cacheRead"]);
    const cacheWrite = number(input["cacheWrite"]);
    const fresh =
      typeof input["noCache"] === "number" ? input["noCache"] : number(input["total"]) - cacheRead - cacheWrite;
    if (input["total"] === undefined && output["total"] === undefined) return undefined;
    const reasoning = number(output["reasoning"]);
    return { input: Math.max(0, fresh), output: number(output["total"]), cacheRead, cacheWrite, reasoning };
  }
  if (typeof input !== "number" && typeof output !== "number") return undefined;
  const cacheRead = number(usage["cachedInputTokens"]);
  const reasoning = number(usage["reasoningTokens"]);
  const cacheWrite = cacheWriteIn(providerMetadata);
  const apart = CLAUDE_PROVIDER.test(provider) || cacheWrite > 0 || cacheRead > number(input);
  const fresh = apart ? number(input) : number(input) - cacheRead;
  return { input: fresh, output: number(output), cacheRead, cacheWrite, reasoning };
}

/** Matches providers such as `anthropic.messages`, `vertex.anthropic.messages`, `amazon-bedrock`. */
export const CLAUDE_PROVIDER = /\b(?:anthropic|bedrock)\b/;

/** Tokens written to the cache, as the version 2 providers of Claude models report them in their metadata. */
function cacheWriteIn(metadata: unknown): number {
  if (!isRecord(metadata)) return 0;
  const own = [metadata["anthropic"], metadata["bedrock"]].filter(isRecord);
  const places = own.flatMap((each) => [each, each["usage"]]).filter(isRecord);
  const counts = places.flatMap((place) => WRITTEN.map((key) => place[key]));
  return counts.find((count): count is number => typeof count === "number") ?? 0;
}

const WRITTEN = ["cacheCreationInputTokens", "cacheWriteInputTokens", "cache_creation_input_tokens"] as const;
