import { describe, expect, test } from "vitest";
import type { Message, ModelEvent, ModelRequest } from "../../../src/core/model/model.ts";
import type { Thinking } from "../../../src/core/vocabulary/thinking.ts";
import { look, modelAt, provider, turn } from "../../support/talk.ts";

/** The fields of a request that depend on the thinking level. */
const rows: readonly [name: string, thinking: Thinking, sent: object][] = [
  [
    "anthropic/claude-haiku-4-5",
    "medium",
    { thinking: { type: "enabled", budget_tokens: 10_240 }, max_tokens: 42_240 },
  ],
  ["anthropic/claude-haiku-4-5", 5_000, { thinking: { type: "enabled", budget_tokens: 5_000 } }],
  ["anthropic/claude-haiku-4-5", 3, { thinking: { type: "enabled", budget_tokens: 1_024 } }],
  ["anthropic/claude-haiku-4-5", "off", { thinking: undefined }],
  [
    "anthropic/claude-opus-4-6",
    "xhigh",
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } },
  ],
  [
    "anthropic/claude-sonnet-5",
    "low",
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
  ],
  ["anthropic/claude-sonnet-5", "off", { thinking: { type: "disabled" } }],
  ["anthropic/claude-opus-5-5", "off", { thinking: undefined, output_config: { effort: "low" } }],
  ["anthropic/claude-3-5-haiku-latest", "high", { thinking: undefined }],
  ["openai-chat/gpt-5.2", "xhigh", { reasoning_effort: "xhigh" }],
  ["openai-chat/gpt-5", "xhigh", { reasoning_effort: "high" }],
  ["openai-chat/gpt-5", "off", { reasoning_effort: "minimal" }],
  ["openai-chat/gpt-5.1", "off", { reasoning_effort: "none" }],
  ["openai-chat/o3", "minimal", { reasoning_effort: "low" }],
  ["openai-chat/gpt-4o", "high", { reasoning_effort: undefined }],
  ["openai/gpt-5.2", "high", { reasoning: { effort: "high", summary: "auto" }, store: false }],
  ["openai/gpt-4o", "high", { reasoning: undefined }],
  [
    "google/gemini-2.5-flash",
    "low",
    { generationConfig: { thinkingConfig: { thinkingBudget: 4_096, includeThoughts: true } } },
  ],
  ["google/gemini-2.5-pro", "off", { generationConfig: { thinkingConfig: { thinkingBudget: 128 } } }],
  [
    "google/gemini-3.8-flash",
    "xhigh",
    { generationConfig: { thinkingConfig: { thinkingLevel: "high", includeThoughts: true } } },
  ],
  ["ollama/qwen3", "off", { reasoning_effort: "none" }],
  ["openrouter/x/y", "high", { reasoning: { effort: "high" } }],
  ["openrouter/x/y", 2_000, { reasoning: { max_tokens: 2_000 } }],
  ["deepseek/deepseek-v4-pro", "low", { thinking: { type: "enabled" } }],
  ["mistral/mistral-large-latest", "high", { reasoning_effort: undefined, stream_options: undefined }],
];

test.each(rows)("%s with the thinking level %s", async (name, thinking, sent) => {
  const server = await provider(["x"]);
  const own = name.split("/")[0]!;
  const address =
    own === "anthropic" || own === "google" || own === "openai" || own === "ollama"
      ? {}
      : { baseURL: `${server.url}/v1` };
  await turn(await modelAt(server, name, { providers: { [own]: { apiKey: "k", ...address } } }), { thinking });
  expect(server.requests[0]!.body).toMatchObject(
    Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
  );
  for (const [field, value] of Object.entries(sent))
    if (value === undefined) expect(server.requests[0]!.body).not.toHaveProperty(field);
});

test("without a thinking level the request has no thinking field", async () => {
  const server = await provider(() => "x");
  for (const name of ["anthropic/claude-sonnet-5", "openai-chat/gpt-5", "openai/gpt-5", "google/gemini-3.8-flash"]) {
    await turn(await modelAt(server, name));
    expect(JSON.stringify(server.requests.at(-1)!.body)).not.toMatch(/thinking|reasoning_effort|"effort"/);
  }
});

describe("the tool choice of a request", () => {
  const forced = { tool: "look" } as const;
  const named = { type: "function", function: { name: "look" } };

  test.each<[name: string, toolChoice: ModelRequest["toolChoice"], thinking: Thinking | undefined, sent: unknown]>([
    ["anthropic/claude-haiku-4-5", "none", undefined, { type: "none" }],
    ["anthropic/claude-haiku-4-5", "none", "high", { type: "none" }],
    ["anthropic/claude-haiku-4-5", forced, undefined, { type: "tool", name: "look" }],
    ["anthropic/claude-haiku-4-5", forced, "off", { type: "tool", name: "look" }],
    ["anthropic/claude-haiku-4-5", forced, "high", { type: "auto" }],
    ["anthropic/claude-sonnet-5", forced, "low", { type: "auto" }],
    ["anthropic/claude-sonnet-5", "required", "off", { type: "any" }],
    ["anthropic/claude-opus-5-5", forced, undefined, { type: "auto" }],
    ["anthropic/claude-3-5-haiku-latest", forced, "high", { type: "tool", name: "look" }],
    ["openai-chat/gpt-5", "none", "high", "none"],
    ["openai-chat/gpt-5", forced, "high", named],
    ["openrouter/anthropic/claude-sonnet-5", forced, "high", "auto"],
    ["openrouter/anthropic/claude-sonnet-5", forced, undefined, named],
    ["openrouter/x/y", forced, "high", named],
    ["deepseek/deepseek-v4-pro", forced, undefined, "auto"],
    ["deepseek/deepseek-v4-pro", forced, "off", named],
    ["deepseek/deepseek-v4-pro", "none", "high", "none"],
    ["deepseek/deepseek-chat", forced, undefined, named],
    ["mistral/mistral-large-latest", "required", undefined, "any"],
    ["mistral/mistral-large-latest", forced, undefined, named],
    ["lmstudio/qwen3", forced, undefined, "auto"],
    ["lmstudio/qwen3", "none", undefined, "none"],
    ["ollama/qwen3", "none", undefined, "none"],
    ["openai/gpt-5.2", "none", "high", "none"],
    ["openai/gpt-5.2", forced, "high", { type: "function", name: "look" }],
    ["google/gemini-2.5-flash", "none", "high", { mode: "NONE" }],
    ["google/gemini-2.5-flash", forced, "high", { mode: "ANY", allowedFunctionNames: ["look"] }],
  ])("%s with %j and the thinking level %s", async (name, toolChoice, thinking, sent) => {
    const server = await provider(["x"]);
    const own = name.split("/")[0]!;
    const isKnown = ["anthropic", "google", "openai", "ollama"].includes(own);
    const at = isKnown ? {} : { providers: { [own]: { apiKey: "k", baseURL: `${server.url}/v1` } } };
    await turn(await modelAt(server, name, at), {
      tools: [look],
      toolChoice,
      ...(thinking !== undefined && { thinking }),
    });
    const { body } = server.requests[0]!;
    expect(body["tool_choice"] ?? (body["toolConfig"] as Record<string, unknown>)["functionCallingConfig"]).toEqual(
      sent,
    );
    expect(JSON.stringify(body["tools"])).toContain("looks at a file");
  });
});

describe("reasoning that a provider needs in the next request", () => {
  const again = async (name: string): Promise<string> => {
    const server = await provider([
      { thinking: "Hm.", text: "I look.", calls: [{ name: "look", input: { path: "a" } }] },
      "done",
    ]);
    const own = name.split("/")[0]!;
    const at = own === "deepseek" ? { providers: { deepseek: { apiKey: "k", baseURL: `${server.url}/v1` } } } : {};
    const model = await modelAt(server, name, at);
    const first = await turn(model, { tools: [look], thinking: "high" });
    const end = first.at(-1) as Extract<ModelEvent, { type: "end" }>;
    const calls = first.flatMap((event) => (event.type === "call" ? [event.call] : []));
    // the data is converted as if it were read from a journal
    const carry = JSON.parse(JSON.stringify(end.carry)) as NonNullable<typeof end.carry>;
    const messages: Message[] = [
      { role: "user", text: "hi" },
      { role: "assistant", text: "I look.", calls, carry },
      { role: "tool", results: [{ id: calls[0]!.id, name: "look", text: "fine", error: false }] },
    ];
    await turn(model, { tools: [look], thinking: "high", messages });
    return JSON.stringify(server.requests[1]!.body);
  };

  test("Anthropic: the signed thinking, before the call", async () => {
    expect(await again("anthropic/claude-haiku-4-5")).toMatch(
      /"thinking":"Hm\.","signature":"signed-1".*"I look\.".*"tool_use"/,
    );
  });

  test("OpenAI responses: the encrypted reasoning", async () => {
    expect(await again("openai/gpt-5.2")).toMatch(/"type":"reasoning".*"encrypted_content":"sealed-1"/);
  });

  test("Google: the signature of the call", async () => {
    expect(await again("google/gemini-3.8-flash")).toMatch(/"functionCall".*"thoughtSignature":"signed-1"/);
  });

  test("DeepSeek: the thinking as text", async () => {
    expect(await again("deepseek/deepseek-v4-pro")).toContain('"reasoning_content":"Hm."');
  });

  test("signed blocks of one provider are not sent to another", async () => {
    const server = await provider(() => "x");
    const messages: Message[] = [
      { role: "user", text: "hi" },
      { role: "assistant", text: "mine", calls: [], carry: { by: "somebody", data: [{ secret: "signed" }] } },
      { role: "user", text: "go on" },
    ];
    for (const name of [
      "anthropic/claude-haiku-4-5",
      "openai-chat/gpt-4o",
      "openai/gpt-5",
      "google/gemini-3.8-flash",
    ]) {
      await turn(await modelAt(server, name), { messages });
      const sent = JSON.stringify(server.requests.at(-1)!.body);
      expect(sent).toContain("mine");
      expect(sent).not.toContain("signed");
    }
  });
});

describe("the stable beginning of a conversation is cached", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const other = { ...look, name: "other" };

  test("Anthropic: after the tools, the system prompt and the last message", async () => {
    const server = await provider(["x"]);
    const messages: Message[] = [
      { role: "user", text: "hi" },
      { role: "assistant", text: "hello", calls: [] },
      { role: "user", text: "go on" },
    ];
    await turn(await modelAt(server, "anthropic/claude-haiku-4-5"), { tools: [look, other], messages });
    const { system, tools, messages: sent } = server.requests[0]!.body as Record<string, object[]>;
    expect(system).toEqual([{ type: "text", text: "Be brief.", ...mark }]);
    expect(tools).toEqual([expect.not.objectContaining(mark), expect.objectContaining({ name: "other", ...mark })]);
    expect(sent).toEqual([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "text", text: "hello" }] },
      { role: "user", content: [{ type: "text", text: "go on", ...mark }] },
    ]);
  });

  test("the beginning has the same bytes in the next turn", async () => {
    const server = await provider(() => "x");
    const model = await modelAt(server, "anthropic/claude-haiku-4-5");
    const first: Message = { role: "user", text: "hi" };
    const asked = {
      tools: [look],
      messages: [first, { role: "assistant", text: "a", calls: [] }, { role: "user", text: "b" }] as Message[],
    };
    await turn(model, asked);
    await turn(model, {
      ...asked,
      messages: [...asked.messages, { role: "assistant", text: "c", calls: [] }, { role: "user", text: "d" }],
    });
    const [one, two] = server.requests.map(({ body }) =>
      JSON.stringify(body).replaceAll(`,${JSON.stringify(mark).slice(1, -1)}`, ""),
    );
    expect(two!.startsWith(one!.slice(0, one!.lastIndexOf("]}]")))).toBe(true);
  });

  test("Anthropic through OpenRouter: with the same cache marks", async () => {
    const server = await provider(["x"]);
    const providers = { openrouter: { apiKey: "k", baseURL: `${server.url}/v1` } };
    await turn(await modelAt(server, "openrouter/anthropic/claude-sonnet-5", { providers }));
    expect(server.requests[0]!.body["messages"]).toEqual([
      { role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] },
      { role: "user", content: [{ type: "text", text: "hi", ...mark }] },
    ]);
  });

  test("tokens read from and written to the cache are counted", async () => {
    const server = await provider([{ text: "x", usage: { input: 4, output: 2, cacheRead: 100, cacheWrite: 50 } }]);
    const events = await turn(await modelAt(server, "anthropic/claude-haiku-4-5"));
    expect(events.at(-1)).toMatchObject({ usage: { input: 4, output: 2, cacheRead: 100, cacheWrite: 50 } });
  });
});
