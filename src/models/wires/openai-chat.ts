import type { ImageContent } from "../../core/model/images.ts";
import type { Message, Model, ModelRequest, ToolAnswer, ToolSpec } from "../../core/model/model.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import type { Endpoint, Quirks } from "./endpoint.ts";
import { createFixedTexts } from "./fixed-texts.ts";
import { readChatAnswer } from "./openai-chat-answer.ts";
import { forbidsForcing, thinkingOptions } from "./thinking-options.ts";
import { type WireParts, speak, type Wire } from "./wire.ts";

/** Chat completions, as OpenAI and compatible providers implement it. */
export function open(endpoint: Endpoint, means: WireParts): Model {
  return speak(wireFor(endpoint), endpoint, means);
}

function wireFor(endpoint: Endpoint): Wire {
  const { quirks, thinking: style, provider } = endpoint;
  const written = new WeakMap<Message, string>();
  const schemas = new WeakMap<object, string>();
  const fixed = createFixedTexts();

  const messageText = (message: Message): string => {
    const known = written.get(message);
    if (known !== undefined) return known;
    const text = messagesFor(message, endpoint)
      .map((one) => JSON.stringify(one))
      .join(",");
    written.set(message, text);
    return text;
  };
  const toolText = ({ name, description, input }: ToolSpec): string => {
    const schema = schemas.get(input) ?? JSON.stringify(input);
    schemas.set(input, schema);
    return `{"type":"function","function":{"name":${JSON.stringify(name)},"description":${JSON.stringify(description)},"parameters":${schema}}}`;
  };

  return {
    path: "/chat/completions",
    headers: ({ key }): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
    body: (request) => {
      const { model, system, tools, thinking } = request;
      // OpenRouter passes marks for the cache on to Anthropic, whose models cache only what is marked.
      const marks = provider === "openrouter" && /claude/.test(model);
      const last = request.messages.length - 1;
      const { spoken: beginning, tooling } = fixed(request, () => ({
        spoken:
          system === "" ? "" : JSON.stringify(marks ? cached("system", system) : { role: "system", content: system }),
        tooling: tools.length > 0 ? `,"tools":[${tools.map(toolText).join(",")}]` : "",
      }));
      let spoken = beginning;
      request.messages.forEach((message, at) => {
        const isCached = marks && message.role === "user" && (at === last || message.cacheMark);
        const text = isCached ? JSON.stringify(cached("user", message.text, message.images)) : messageText(message);
        if (text !== "") spoken += spoken === "" ? text : `,${text}`;
      });
      const head = {
        model,
        stream: true,
        ...(quirks.cacheKey === true && request.prefix && { prompt_cache_key: request.prefix.key }),
        ...(quirks.usageUnasked !== true && { stream_options: { include_usage: true } }),
        ...samplingFor(request, quirks),
        ...(thinking !== undefined && thinkingOptions[style](thinking, model)),
        ...(tools.length > 0 && { tool_choice: choiceFor(request, quirks) }),
      };
      return `${JSON.stringify(head).slice(0, -1)},"messages":[${spoken}]${tooling}}`;
    },
    read: () => readChatAnswer(endpoint),
  };
}

const cached = (role: string, text: string, images: readonly ImageContent[] = []): object => ({
  role,
  content: [...images.map(imagePart), { type: "text", text, cache_control: { type: "ephemeral" } }],
});

const imagePart = ({ type, data }: ImageContent): object => ({
  type: "image_url",
  image_url: { url: `data:${type};base64,${data}` },
});

function samplingFor(
  { model, maxOutputTokens, temperature, topP }: ModelRequest,
  { maxTokens = "max_tokens" }: Quirks,
): object {
  // OpenAI's reasoning models reject sampling options.
  const fixed = maxTokens === "max_completion_tokens" && /^(?:o\d|gpt-[5-9])/.test(model);
  return {
    ...defined({ [maxTokens]: maxOutputTokens }),
    ...(!fixed && temperature !== undefined && { temperature }),
    ...(!fixed && topP !== undefined && { top_p: topP }),
  };
}

function choiceFor({ toolChoice, model, thinking }: ModelRequest, quirks: Quirks): unknown {
  if (toolChoice === "auto" || toolChoice === "none") return toolChoice;
  if (forbidsForcing(model, thinking)) return "auto";
  if (toolChoice === "required") return quirks.anyTool ?? "required";
  return quirks.namedTool === "refused" ? "auto" : { type: "function", function: { name: toolChoice.tool } };
}

/** Converts one of subcrew's messages to zero, one or several messages of OpenAI's chat API. */
function messagesFor(message: Message, { provider, quirks }: Endpoint): object[] {
  switch (message.role) {
    case "user":
      return [
        {
          role: "user",
          content: message.images?.length
            ? [...message.images.map(imagePart), { type: "text", text: message.text }]
            : message.text,
        },
      ];
    case "assistant": {
      const { text, calls, carry } = message;
      if (text === "" && calls.length === 0) return [];
      const toolCalls = calls.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(isRecord(input) ? input : {}) },
      }));
      const returned = quirks.returnThinking;
      return [
        {
          role: "assistant",
          content: text === "" ? null : text,
          ...(returned !== undefined && carry?.by === provider && { [returned]: carry.data }),
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
      ];
    }
    case "tool":
      return [
        ...message.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text })),
        ...imagesOf(message.results),
      ];
  }
}

/** The images of tool results, as a separate message: in OpenAI's chat API a tool result is text only. */
function imagesOf(results: readonly ToolAnswer[]): object[] {
  const shown = results.filter(({ images }) => images !== undefined);
  if (shown.length === 0) return [];
  const text = `The images in the ${shown.length === 1 ? "result" : "results"} of ${shown.map(({ name }) => name).join(", ")}:`;
  return [
    { role: "user", content: [{ type: "text", text }, ...shown.flatMap(({ images = [] }) => images.map(imagePart))] },
  ];
}
