import type { ImageContent } from "../../core/model/images.ts";
import type { Message, Model, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { isRecord } from "../../core/text/json.ts";
import { type Block, CARRIED, readAnthropicAnswer } from "./anthropic-answer.ts";
import { claudeFeatures } from "./claude.ts";
import type { Endpoint } from "./endpoint.ts";
import { forbidsForcing, thinkingOptions } from "./thinking-options.ts";
import { type WireParts, speak, type Wire } from "./wire.ts";

/** The Messages API of Anthropic and of compatible providers. */
export function open(endpoint: Endpoint, means: WireParts): Model {
  return speak(wireFor(endpoint), endpoint, means);
}

/** The maximum length of an answer when the request sets no maximum. */
const USUAL_OUTPUT = 32_000;

function wireFor(endpoint: Endpoint): Wire {
  const written = new WeakMap<Message, string>();
  const schemas = new WeakMap<object, string>();

  const messageText = (message: Message): string => {
    const known = written.get(message);
    if (known !== undefined) return known;
    const text = JSON.stringify(messageFor(message, isMarked(message)));
    written.set(message, text);
    return text;
  };
  const toolText = (tool: ToolSpec, last: boolean): string => {
    const schema = schemas.get(tool.input) ?? JSON.stringify(tool.input);
    schemas.set(tool.input, schema);
    const { name, description } = tool;
    const head = JSON.stringify({ name, description, ...(last && CACHED) });
    return `${head.slice(0, -1)},"input_schema":${schema}}`;
  };

  return {
    path: "/messages",
    headers: ({ key, keyName }) => ({
      "anthropic-version": "2023-06-01",
      ...(key !== undefined &&
        (keyName?.endsWith("_AUTH_TOKEN") ? { authorization: `Bearer ${key}` } : { "x-api-key": key })),
    }),
    body: (request) => {
      const { system, tools } = request;
      const messages = request.messages.filter((message) => !isEmpty(message));
      const last = messages.length - 1;
      const forked = messages.some(isMarked);
      const texts = messages.map((message, at) => {
        if (at === last) return JSON.stringify(messageFor(message, true));
        // Anthropic allows four marks up to which a request is cached; the mark where a forked conversation begins also
        // covers the messages before it.
        const covered = forked && message.role === "user" && message.shared !== undefined;
        return covered ? JSON.stringify(messageFor(message, isMarked(message), false)) : messageText(message);
      });
      const head = {
        model: request.model,
        stream: true,
        ...limitsFor(request),
        ...(system !== "" && { system: [{ type: "text", text: system, ...CACHED }] }),
        ...(tools.length > 0 && { tool_choice: choiceFor(request) }),
      };
      const toolTexts = tools.map((tool, at) => toolText(tool, at === tools.length - 1)).join(",");
      const tooling = tools.length > 0 ? `"tools":[${toolTexts}],` : "";
      return `{${tooling}${JSON.stringify(head).slice(1, -1)},"messages":[${texts.join(",")}]}`;
    },
    read: () => readAnthropicAnswer(endpoint),
  };
}

/** The mark up to which the provider caches a request. The cached part costs a tenth in the next request. */
const CACHED = { cache_control: { type: "ephemeral" } } as const;

/** The parameters for length, thinking and sampling, as far as the model supports them. */
function limitsFor({ model, thinking, maxOutputTokens, temperature, topP }: ModelRequest): object {
  const { maxOutput, sampling } = claudeFeatures(model);
  const options = thinking === undefined ? {} : thinkingOptions.anthropic(thinking, model);
  const budget = options.thinking?.budget_tokens ?? 0;
  const answer = maxOutputTokens ?? Math.min(USUAL_OUTPUT, maxOutput);
  const thinks = isThinking(options);
  return {
    max_tokens: Math.min(maxOutput, answer + budget),
    ...options,
    ...(budget >= maxOutput && { thinking: { ...options.thinking, budget_tokens: maxOutput - 1_024 } }),
    ...(sampling && !thinks && temperature !== undefined && { temperature }),
    ...(sampling && !thinks && topP !== undefined && { top_p: topP }),
  };
}

const isThinking = ({ thinking }: ReturnType<typeof thinkingOptions.anthropic>): boolean =>
  thinking !== undefined && thinking.type !== "disabled";

/** The tool choice; a model that thinks cannot be forced to call a tool. */
function choiceFor({ toolChoice, thinking, model }: ModelRequest): object {
  if (toolChoice === "auto" || toolChoice === "none") return { type: toolChoice };
  const thinks = thinking !== undefined && isThinking(thinkingOptions.anthropic(thinking, model));
  if (thinks || forbidsForcing(model, thinking)) return { type: "auto" };
  return toolChoice === "required" ? { type: "any" } : { type: "tool", name: toolChoice.tool };
}

/** True for the message at which a request of another task ended: the provider has cached everything up to it. */
const isMarked = (message: Message): boolean => message.role !== "assistant" && message.cacheMark === true;

/** True for a message without content, which the provider would reject. */
const isEmpty = (message: Message): boolean =>
  message.role === "assistant" && message.text === "" && message.calls.length === 0;

function messageFor(message: Message, cached: boolean, sharedMark = true): object {
  const content = contentOf(message, sharedMark);
  const last = content.at(-1);
  if (cached && last && last["type"] !== "thinking") content[content.length - 1] = { ...last, ...CACHED };
  return { role: message.role === "assistant" ? "assistant" : "user", content };
}

function contentOf(message: Message, sharedMark: boolean): Block[] {
  switch (message.role) {
    case "user": {
      const { text, shared = 0 } = message;
      const images = (message.images ?? []).map(imageBlock);
      if (shared === 0 || shared >= text.length) return [...images, { type: "text", text }];
      return [
        { type: "text", text: text.slice(0, shared), ...(sharedMark && CACHED) },
        ...images,
        { type: "text", text: text.slice(shared) },
      ];
    }
    case "assistant": {
      if (message.carry?.by === CARRIED && Array.isArray(message.carry.data))
        return [...(message.carry.data as Block[])];
      const calls = message.calls.map(({ id, name, input }) => ({
        type: "tool_use",
        id: idFor(id),
        name,
        input: isRecord(input) ? input : {},
      }));
      return [...(message.text === "" ? [] : [{ type: "text", text: message.text }]), ...calls];
    }
    case "tool":
      return message.results.map(({ id, text, error, images }) => ({
        type: "tool_result",
        tool_use_id: idFor(id),
        ...(images
          ? { content: [{ type: "text", text }, ...images.map(imageBlock)] }
          : text !== "" && { content: text }),
        ...(error && { is_error: true }),
      }));
  }
}

/** A call id without the characters that this provider rejects; calls may have been made with another provider. */
const idFor = (id: string): string => id.replace(/[^\w-]/g, "_");

const imageBlock = ({ type, data }: ImageContent): Block => ({
  type: "image",
  source: { type: "base64", media_type: type, data },
});
