import type {
  JSONObject,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
} from "@ai-sdk/provider";
import type { Message, ModelRequest, ToolAnswer } from "../../core/model/model.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { CLAUDE_PROVIDER } from "./library-answer.ts";
import { thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { forbidsForcing, thinkingOptions } from "../wires/thinking-options.ts";

/** The model and provider of a request; `options` are sent with each request. */
export type RequestTarget = Readonly<{
  model: Readonly<{ modelId: string; provider: string; specificationVersion: string }>;
  /** The first word of the provider's name, under which its options are given. */
  family: string;
  options: JSONObject;
  signal: AbortSignal;
}>;

/** Converts a request to the format of the AI SDK's provider layer. */
export function optionsFor(
  request: ModelRequest,
  { model, family, options, signal }: RequestTarget,
): LanguageModelV3CallOptions {
  const { system, messages, tools, thinking, temperature, topP, maxOutputTokens } = request;
  const { modelId, provider, specificationVersion } = model;
  const cached = family === "anthropic" ? CACHED : {};
  const prompt: LanguageModelV3Message[] = system === "" ? [] : [{ role: "system", content: system, ...cached }];
  const forked = messages.some((message) => message.role !== "assistant" && message.cacheMark);
  // Anthropic allows four marks up to which a request is cached; the mark where a forked conversation begins also
  // covers the messages before it.
  for (const message of messages)
    prompt.push(...messageFor(message, provider, { cached, ...(!forked && { shared: cached }) }));
  const last = prompt.at(-1);
  if (last && last.role !== "system") prompt[prompt.length - 1] = { ...last, ...cached };
  const told =
    thinking === undefined ? {} : (thinkingOptions[styles[family] ?? "none"](thinking, modelId) as JSONObject);
  const cacheKey = family === "openai" && request.prefix ? { promptCacheKey: request.prefix.key } : {};
  const forProvider: JSONObject = { ...cacheKey, ...options, ...told };
  return {
    prompt,
    abortSignal: signal,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }, at): LanguageModelV3FunctionTool => {
        const marked = at === tools.length - 1 ? cached : {};
        return { type: "function", name, description, inputSchema: input, ...marked };
      }),
      toolChoice: choiceFor(request, model),
    }),
    ...defined({ temperature, topP, maxOutputTokens }),
    ...(Object.keys(forProvider).length > 0 && { providerOptions: { [family]: forProvider } }),
    ...(specificationVersion === "v4" && thinking !== undefined && { reasoning: neutral(thinkingLevel(thinking)) }),
  };
}

/** The tool choice. Adapters for Claude leave all tools out for `none`, in some versions. */
function choiceFor(
  { toolChoice, thinking }: ModelRequest,
  { modelId, provider }: RequestTarget["model"],
): NonNullable<LanguageModelV3CallOptions["toolChoice"]> {
  if (toolChoice === "auto") return { type: "auto" };
  if (toolChoice === "none") return { type: CLAUDE_PROVIDER.test(provider) ? "auto" : "none" };
  if (forbidsForcing(modelId, thinking)) return { type: "auto" };
  return toolChoice === "required" ? { type: "required" } : { type: "tool", toolName: toolChoice.tool };
}

const CACHED = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
const neutral = (level: string): string => (level === "off" ? "none" : level);

const styles: Readonly<Record<string, keyof typeof thinkingOptions>> = {
  openai: "library-openai",
  google: "library-google",
  anthropic: "library-anthropic",
};

/**
 * Marks for the provider's cache: `cached` for the end of a message where a forked conversation begins, `shared` for
 * the prefix that tasks have in common.
 */
type Marks = Readonly<{ cached: Partial<typeof CACHED>; shared?: Partial<typeof CACHED> }>;

function messageFor(message: Message, provider: string, { cached, shared: begins }: Marks): LanguageModelV3Message[] {
  const marked = message.role !== "assistant" && message.cacheMark ? cached : {};
  switch (message.role) {
    case "user": {
      const { text, shared = 0 } = message;
      const images = (message.images ?? []).map(({ type, data }) => ({ type: "file" as const, mediaType: type, data }));
      if (shared === 0 || shared >= text.length)
        return [{ role: "user", content: [...images, { type: "text", text }], ...marked }];
      const begin = { type: "text" as const, text: text.slice(0, shared), ...begins };
      return [{ role: "user", content: [begin, ...images, { type: "text", text: text.slice(shared) }], ...marked }];
    }
    case "assistant": {
      const { text, calls, carry } = message;
      if (carry?.by === provider) return [{ role: "assistant", content: carry.data as Content }];
      if (text === "" && calls.length === 0) return [];
      const said: Content = text === "" ? [] : [{ type: "text", text }];
      const called: Content = calls.map(({ id, name, input }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input: isRecord(input) ? input : {},
      }));
      return [{ role: "assistant", content: [...said, ...called] }];
    }
    case "tool":
      return [
        {
          role: "tool",
          content: message.results.map((result) => ({
            type: "tool-result",
            toolCallId: result.id,
            toolName: result.name,
            output: outputOf(result),
          })),
          ...marked,
        },
      ];
  }
}

function outputOf({ text, error, images }: ToolAnswer): LanguageModelV3ToolResultOutput {
  if (!images) return { type: error ? "error-text" : "text", value: text };
  const shown = images.map(({ type, data }) => ({ type: "image-data" as const, mediaType: type, data }));
  return { type: "content", value: [{ type: "text", text }, ...shown] };
}

type Content = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
