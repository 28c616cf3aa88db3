import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ReadableStream } from "node:stream/web";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../../src/core/agent/agent.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { createCrew } from "../../../src/crew.ts";
import type { LanguageModel } from "../../../src/models/ai-sdk/is-language-model.ts";
import { createModelRegistry } from "../../../src/models/registry/registry.ts";
import { faultOf, look, provider, textOf, turn } from "../../support/talk.ts";

/** A model object of any version that plays these parts. */
function object(specificationVersion: string, parts: readonly object[], asked: object[] = []): LanguageModel {
  return {
    specificationVersion,
    provider: "house.chat",
    modelId: "big",
    doStream: async (options: object) => {
      asked.push(options);
      return { stream: ReadableStream.from(parts) };
    },
  };
}

const said = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "hello" },
  { type: "text-end", id: "1" },
];
const finishes = {
  v2: {
    type: "finish",
    finishReason: "stop",
    usage: { inputTokens: 9, outputTokens: 2, totalTokens: 11, cachedInputTokens: 4, reasoningTokens: 1 },
  },
  v3: {
    type: "finish",
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: 9, noCache: 5, cacheRead: 4, cacheWrite: 0 },
      outputTokens: { total: 2, text: 1, reasoning: 1 },
    },
  },
};

test.each([
  ["v2", finishes.v2],
  ["v3", finishes.v3],
  ["v4", finishes.v3],
])("a model object of version %s can be used as a model", async (version, finish) => {
  const asked: object[] = [];
  const x = object(version, [{ type: "stream-start", warnings: [] }, ...said, finish], asked);
  const found = await createModelRegistry({ models: { x } }).choose([{ by: "call", names: "x:high" }]);
  if ("misses" in found) throw new Error("not found");
  const events = await turn(found.model, { thinking: "high", tools: [look] });
  expect(textOf(events)).toBe("hello");
  expect(events.at(-1)).toMatchObject({ type: "end", usage: { input: 5, output: 2, cacheRead: 4, reasoning: 1 } });
  expect(events.at(-1)).not.toHaveProperty("cost"); // the price of the model is unknown
  expect(asked).toHaveLength(1);
  if (version === "v4") expect(asked[0]).toMatchObject({ reasoning: "high" });
});

test.each([
  ["house.chat", "big", "high", ["none", "tool"]],
  ["vertex.anthropic.messages", "claude-haiku-4-5", "high", ["auto", "auto"]],
  ["vertex.anthropic.messages", "claude-haiku-4-5", undefined, ["auto", "tool"]],
  ["amazon-bedrock", "claude-haiku-4-5", "off", ["auto", "tool"]],
] as const)(
  "the tool choices none and look of %s, %s with the thinking level %s",
  async (name, modelId, thinking, sent) => {
    const asked: { toolChoice?: { type: string } }[] = [];
    const x: LanguageModel = { ...object("v3", [...said, finishes.v3], asked), provider: name, modelId };
    const found = await createModelRegistry({ models: { x } }).choose([{ by: "call", names: "x" }]);
    if ("misses" in found) throw new Error("not found");
    for (const toolChoice of ["none", { tool: "look" }] as const)
      await turn(found.model, { tools: [look], toolChoice, ...(thinking && { thinking }) });
    expect(asked.map(({ toolChoice }) => toolChoice?.type)).toEqual(sent);
  },
);

test.each([
  ["anthropic.messages", { anthropic: { cacheCreationInputTokens: 3_000, usage: { input_tokens: 100 } } }],
  ["vertex.anthropic.messages", { anthropic: { usage: { cache_creation_input_tokens: 3_000 } } }],
  ["amazon-bedrock", { bedrock: { usage: { cacheWriteInputTokens: 3_000 } } }],
])("version 2 of %s counts cached tokens in addition to the input", async (name, providerMetadata) => {
  const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedInputTokens: 4_000 };
  const parts = [...said, { type: "finish", finishReason: "stop", usage, providerMetadata }];
  const x: LanguageModel = { ...object("v2", parts), provider: name, modelId: "claude-haiku-4-5" };
  const found = await createModelRegistry({ models: { x } }).choose([{ by: "call", names: "x" }]);
  if ("misses" in found) throw new Error("not found");
  const end = (await turn(found.model)).at(-1);
  expect(end).toMatchObject({ usage: { input: 100, output: 20, cacheRead: 4_000, cacheWrite: 3_000 } });
  // Haiku 4.5 per million tokens: input $1, output $5, cache read $0.10, cache write $1.25.
  if (name === "anthropic.messages") expect(end).toMatchObject({ cost: expect.closeTo(0.00435, 6) as number });
});

test("a model object that throws, breaks off or never answers gives a fault, never an exception", async () => {
  const ask = async (x: LanguageModel, signal?: AbortSignal) => {
    const found = await createModelRegistry({ models: { x } }).choose([{ by: "call", names: "x" }], { retry: false });
    return "misses" in found ? [] : turn(found.model, {}, signal);
  };
  const throwing: LanguageModel = { ...object("v3", []), doStream: () => Promise.reject(new Error("boom")) };
  expect(faultOf(await ask(throwing))).toMatchObject({
    code: "MODEL_BAD_ANSWER",
    message: expect.stringContaining("boom"),
  });
  expect(faultOf(await ask(object("v3", said)))).toMatchObject({
    code: "MODEL_NETWORK",
    message: expect.stringContaining("ended early"),
  });
  expect(faultOf(await ask(object("v2", [{ type: "error", error: "no" }])))).toMatchObject({
    code: "MODEL_OVERLOADED",
  });
  // When the turn was already aborted, an error of the model is ignored.
  expect(faultOf(await ask(throwing, AbortSignal.abort()))).toMatchObject({ message: "the turn was aborted" });
  const deaf: LanguageModel = { ...object("v3", []), doStream: () => new Promise(() => {}) };
  expect(faultOf(await ask(deaf, AbortSignal.timeout(20)))).toMatchObject({ message: "the turn was aborted" });
});

test("a crew runs on model objects from the packages of the AI SDK", async () => {
  const server = await provider(({ body }) =>
    JSON.stringify(body).includes("the file says 42")
      ? "It is 42."
      : { calls: [{ name: "peek", input: { path: "a" } }] },
  );
  const peek = defineTool({
    name: "peek",
    description: "peeks",
    input: z.object({ path: z.string() }),
    effect: "read",
    run: () => "the file says 42",
  });
  const models = {
    claude: createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "k" })("claude-haiku-4-5"),
    local: createOpenAICompatible({ name: "local", baseURL: `${server.url}/v1`, apiKey: "k" })("big"),
  };
  const reader = defineAgent({ name: "reader", description: "d", instructions: "i", tools: ["peek"] });
  const crew = createCrew({ home: false, discover: false, env: {}, agents: [reader], tools: [peek], models });
  for (const model of ["claude", "local"]) {
    const result = await crew.run({ mode: "single", agent: "reader", task: "what does it say?", model });
    expect(result).toMatchObject({ status: "ok", output: "It is 42." });
  }
  const marked = server.requests.filter(({ wire }) => wire === "anthropic").map(({ body }) => JSON.stringify(body));
  expect(marked.every((body) => body.includes('"cache_control":{"type":"ephemeral"}'))).toBe(true);
});
