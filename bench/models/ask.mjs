// The compared programs are separate and small; only their results are typed.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createModelRegistry } from "../../dist/models/registry/registry.js";

/**
 * One turn of a conversation: text and tool calls. Each compared program keeps the conversation in its own format.
 *
 * @typedef {{ text: string, calls: { id: string, name: string, input: unknown }[] }} Turn
 * @typedef {(prompt: string) => { turn(): Promise<Turn>, answer(turn: Turn, result: string): void }} Talk
 */

const system = "You look at files and say what is in them. ".repeat(20);
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tool = { name: "look", description: "looks at a file" };

/** A minimal hand-written client as the lower bound: fetch, a loop over the stream, JSON.parse. */
async function* events(url, headers, body) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}`);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const data = part.slice(part.indexOf("data: ") + 6);
      if (data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

/** @type {(url: string) => Talk} */
const chatFloor = (url) => (prompt) => {
  const messages = /** @type {object[]} */ ([
    { role: "system", content: system },
    { role: "user", content: prompt },
  ]);
  const tools = [{ type: "function", function: { ...tool, parameters: schema } }];
  return {
    async turn() {
      let text = "";
      const calls = [];
      for await (const event of events(
        `${url}/v1/chat/completions`,
        { authorization: "Bearer k" },
        { model: "m", stream: true, messages, tools },
      )) {
        const delta = event.choices[0]?.delta;
        if (delta?.content) text += delta.content;
        for (const { index, id, function: made } of delta?.tool_calls ?? []) {
          calls[index] ??= { id, name: made.name, json: "" };
          calls[index].json += made.arguments ?? "";
        }
      }
      return { text, calls: calls.map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) })) };
    },
    answer({ text, calls }, result) {
      const tool_calls = calls.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      }));
      messages.push({ role: "assistant", content: text, tool_calls });
      for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: result });
    },
  };
};

/** @type {(url: string) => Talk} */
const anthropicFloor = (url) => (prompt) => {
  const messages = /** @type {object[]} */ ([{ role: "user", content: prompt }]);
  const tools = [{ ...tool, input_schema: schema }];
  return {
    async turn() {
      let text = "";
      const calls = [];
      const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" };
      for await (const { type, index, content_block, delta } of events(`${url}/v1/messages`, headers, {
        model: "m",
        max_tokens: 4_096,
        stream: true,
        system,
        messages,
        tools,
      })) {
        if (type === "content_block_start" && content_block.type === "tool_use")
          calls[index] = { ...content_block, json: "" };
        if (type === "content_block_delta" && delta.text) text += delta.text;
        if (type === "content_block_delta" && delta.partial_json) calls[index].json += delta.partial_json;
      }
      return {
        text,
        calls: calls.filter(Boolean).map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) })),
      };
    },
    answer({ text, calls }, result) {
      const said = text === "" ? [] : [{ type: "text", text }];
      messages.push({ role: "assistant", content: [...said, ...calls.map((call) => ({ type: "tool_use", ...call }))] });
      messages.push({
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: result })),
      });
    },
  };
};

/** The provider layer of the AI SDK, called directly. */
const library = (model) => (prompt) => {
  const messages = /** @type {any[]} */ ([
    { role: "system", content: system },
    { role: "user", content: [{ type: "text", text: prompt }] },
  ]);
  const tools = [{ type: "function", ...tool, inputSchema: schema }];
  return {
    async turn() {
      let text = "";
      const calls = [];
      const { stream } = await model.doStream({ prompt: messages, tools, toolChoice: { type: "auto" } });
      for await (const part of stream) {
        if (part.type === "text-delta") text += part.delta;
        else if (part.type === "tool-call")
          calls.push({ id: part.toolCallId, name: part.toolName, input: JSON.parse(part.input) });
        else if (part.type === "error") throw part.error;
      }
      return { text, calls };
    },
    answer({ text, calls }, result) {
      const said = text === "" ? [] : [{ type: "text", text }];
      const called = calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input }));
      messages.push({ role: "assistant", content: [...said, ...called] });
      messages.push({
        role: "tool",
        content: calls.map(({ id, name }) => ({
          type: "tool-result",
          toolCallId: id,
          toolName: name,
          output: { type: "text", value: result },
        })),
      });
    },
  };
};

/** Subcrew's own provider client with retries and prices, as in a crew. */
const ours = (registry, name) => (prompt) => {
  const { model, modelId } = registry.resolve(name);
  const messages = /** @type {any[]} */ ([{ role: "user", text: prompt }]);
  const tools = [{ ...tool, input: schema }];
  const { signal } = new AbortController();
  return {
    async turn() {
      let text = "";
      const calls = [];
      for await (const event of model(
        { model: modelId, system, messages: [...messages], tools, toolChoice: "auto" },
        signal,
      )) {
        if (event.type === "text") text += event.text;
        else if (event.type === "call") calls.push(event.call);
        else if (event.type === "error") throw new Error(event.fault.message);
      }
      return { text, calls };
    },
    answer({ text, calls }, result) {
      messages.push({ role: "assistant", text, calls });
      messages.push({ role: "tool", results: calls.map(({ id, name }) => ({ id, name, text: result, error: false })) });
    },
  };
};

/**
 * The compared programs, by the provider's protocol.
 *
 * @param {string} url
 * @returns {Record<string, Record<"floor" | "subcrew" | "library", Talk>>}
 */
export function contenders(url) {
  const baseURL = `${url}/v1`;
  const providers = { house: { baseURL, apiKey: "k" }, anthropic: { baseURL, apiKey: "k" } };
  const registry = createModelRegistry({ providers });
  return {
    "openai chat": {
      floor: chatFloor(url),
      subcrew: ours(registry, "house/m"),
      library: library(createOpenAICompatible({ name: "house", baseURL, apiKey: "k" })("m")),
    },
    anthropic: {
      floor: anthropicFloor(url),
      subcrew: ours(registry, "anthropic/claude-haiku-4-5"),
      library: library(createAnthropic({ baseURL, apiKey: "k" })("claude-haiku-4-5")),
    },
  };
}
