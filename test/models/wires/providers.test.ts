import { describe, expect, test } from "vitest";
import type { Message, ModelEvent } from "../../../src/core/model/model.ts";
import type { WireName } from "../../../src/testing/wire.ts";
import { kinds, look, modelAt, provider, textOf, turn } from "../../support/talk.ts";

/** An image in the format of each wire. */
const imagesOn: Readonly<Record<WireName, string>> = {
  anthropic: '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}',
  "openai-chat": '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}',
  "openai-responses": '{"type":"input_image","image_url":"data:image/png;base64,AAAA"}',
  google: '{"inlineData":{"mimeType":"image/png","data":"AAAA"}}',
};

describe.each(kinds)("%s", (_, name) => {
  test("an answer comes in pieces, with its token counts", async () => {
    const usage = { input: 7, output: 9, cacheRead: 3, reasoning: 2 };
    const server = await provider([{ text: ["Hel", "lo"], usage }]);
    const events = await turn(await modelAt(server, name));
    expect(textOf(events)).toBe("Hello");
    const end = events.at(-1) as Extract<ModelEvent, { type: "end" }>;
    expect(end).toMatchObject({ type: "end", usage: { input: 7, output: 9, cacheRead: 3 } });
    // Anthropic does not report reasoning tokens
    if (name !== "anthropic/claude-haiku-4-5") expect(end.usage.reasoning).toBe(2);
  });

  test("tools are offered and called in parallel, and their results are sent back", async () => {
    const calls = [
      { name: "look", input: { path: "a.ts" } },
      { name: "look", input: { path: "b.ts" } },
    ];
    const server = await provider([{ text: "I look.", calls }, "Both are fine."]);
    const model = await modelAt(server, name);
    const first = await turn(model, { tools: [look] });
    const called = first.flatMap((event) => (event.type === "call" ? [event.call] : []));
    expect(called.map(({ name: tool, input }) => [tool, input])).toEqual([
      ["look", { path: "a.ts" }],
      ["look", { path: "b.ts" }],
    ]);
    expect(new Set(called.map(({ id }) => id)).size).toBe(2);

    const end = first.at(-1) as Extract<ModelEvent, { type: "end" }>;
    const messages: Message[] = [
      { role: "user", text: "hi" },
      { role: "assistant", text: "I look.", calls: called, ...(end.carry && { carry: end.carry }) },
      {
        role: "tool",
        results: [
          { id: called[0]!.id, name: "look", text: "a is good", error: false },
          { id: called[1]!.id, name: "look", text: "b is not there", error: true },
        ],
      },
    ];
    expect(textOf(await turn(model, { tools: [look], messages }))).toBe("Both are fine.");
    const [asked, again] = server.requests;
    expect(JSON.stringify(asked!.body)).toContain("looks at a file");
    const sent = JSON.stringify(again!.body);
    for (const part of ["I look.", "a.ts", "b.ts", "a is good", "b is not there"]) expect(sent).toContain(part);
  });

  test("an image is sent in the provider's format, beside the text", async () => {
    const server = await provider(["A cat."]);
    const images = [{ name: "cat.png", type: "image/png" as const, data: "AAAA" }];
    await turn(await modelAt(server, name), { messages: [{ role: "user", text: "What is this?", images }] });
    const { wire, body } = server.requests[0]!;
    const sent = JSON.stringify(body);
    expect(sent).toContain("What is this?");
    expect(sent).toContain(imagesOn[wire]);
  });

  test("invalid arguments become a call that can be answered", async () => {
    const server = await provider([{ calls: [{ name: "look", arguments: '{"path": ' }] }, "Sorry."]);
    const model = await modelAt(server, name);
    const events = await turn(model, { tools: [look] });
    const call = events.flatMap((event) => (event.type === "call" ? [event.call] : []))[0]!;
    expect(call.name).toBe("look");
    expect(typeof call.input).toBe("string");
    const messages: Message[] = [
      { role: "user", text: "hi" },
      { role: "assistant", text: "", calls: [call] },
      { role: "tool", results: [{ id: call.id, name: "look", text: "not JSON", error: true }] },
    ];
    expect(textOf(await turn(model, { tools: [look], messages }))).toBe("Sorry.");
  });

  test("a request can require the model to call a specific tool", async () => {
    const server = await provider([{ calls: [{ name: "look", input: { path: "a" } }] }, "x"]);
    const model = await modelAt(server, name);
    await turn(model, { tools: [look], toolChoice: "required" });
    expect(JSON.stringify(server.requests[0]!.body)).toMatch(/"(any|required|ANY)"/);
    await turn(model, { tools: [look], toolChoice: { tool: "look" } });
    expect(JSON.stringify(server.requests[1]!.body)).toMatch(/"(tool_choice|toolConfig)":.*look/);
  });

  test("thinking is shown as it comes", async () => {
    const server = await provider([{ thinking: "Hm.", text: "Yes." }]);
    const events = await turn(await modelAt(server, name));
    expect(events.flatMap((event) => (event.type === "thinking" ? [event.text] : [])).join("")).toBe("Hm.");
    expect(textOf(events)).toBe("Yes.");
  });

  test("an answer that is cut at the maximum length is reported with MODEL_CUT", async () => {
    const server = await provider([{ text: "and so", finish: "length" }]);
    const events = await turn(await modelAt(server, name));
    expect(events).toContainEqual(expect.objectContaining({ type: "notice", code: "MODEL_CUT" }));
    expect(events.at(-1)?.type).toBe("end");
  });

  test("maximum length, temperature and top_p are sent", async () => {
    const server = await provider(["x"]);
    await turn(await modelAt(server, name), { maxOutputTokens: 77, temperature: 0.25, topP: 0.5 });
    const sent = JSON.stringify(server.requests[0]!.body);
    expect(sent).toContain("77");
    if (name !== "openai/gpt-5.2") expect(sent).toMatch(/0\.25.*0\.5/); // a reasoning model has no sampling settings
  });

  test("an abort closes the connection", async () => {
    const server = await provider([{ fault: "endless" }, { fault: "hang" }]);
    const model = await modelAt(server, name);
    const stop = new AbortController();
    let seen = 0;
    for await (const event of model(
      { model: "m", system: "", messages: [{ role: "user", text: "hi" }], tools: [], toolChoice: "auto" },
      stop.signal,
    )) {
      if (event.type === "text") seen += 1;
      if (seen === 1) stop.abort();
    }
    expect(await server.requests[0]!.ended).toBe("hung up");

    const waiting = new AbortController();
    const asked = turn(model, {}, waiting.signal);
    while (server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    waiting.abort();
    expect(await server.requests[1]!.ended).toBe("hung up");
    expect((await asked).at(-1)).toMatchObject({ type: "error", fault: { message: "the turn was aborted" } });
  });

  test("a consumer that stops reading closes the connection", async () => {
    const server = await provider([{ fault: "endless" }]);
    const model = await modelAt(server, name);
    const nobody = new AbortController().signal;
    for await (const event of model(
      { model: "m", system: "", messages: [{ role: "user", text: "hi" }], tools: [], toolChoice: "auto" },
      nobody,
    )) {
      if (event.type === "text") break;
    }
    expect(await server.requests[0]!.ended).toBe("hung up");
  });

  test("a custom address and custom headers are used", async () => {
    const server = await provider(["x"]);
    const own = name.split("/")[0]!;
    const baseURL = own === "google" ? `${server.url}/proxy/v1beta` : `${server.url}/proxy/v1`;
    const providers = { [own]: { baseURL, headers: { "x-team": "blue" } } };
    await turn(await modelAt(server, name, { providers }));
    expect(server.requests[0]!.path).toMatch(/^\/proxy\/v1/);
    expect(server.requests[0]!.headers["x-team"]).toBe("blue");
  });
});

test("each provider gets its key in the header that it expects", async () => {
  const server = await provider(() => "x");
  for (const [, name] of kinds) await turn(await modelAt(server, name));
  const sent = server.requests.map(
    ({ headers }) => headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization,
  );
  expect(sent).toEqual([
    "local-provider-key",
    "Bearer local-provider-key",
    "Bearer local-provider-key",
    "local-provider-key",
    undefined,
  ]);
});

test("a custom provider needs only an address and a variable for its key", async () => {
  const server = await provider(["hello"]);
  const providers = { house: { baseURL: `${server.url}/v1`, apiKeyEnv: "HOUSE_KEY" } };
  const model = await modelAt(server, "house/big/one:free", { providers, env: { HOUSE_KEY: "open sesame" } });
  expect(textOf(await turn(model))).toBe("hello");
  expect(server.requests[0]).toMatchObject({ model: "big/one:free", headers: { authorization: "Bearer open sesame" } });
});

test("connections are reused", async () => {
  const server = await provider(() => "x");
  const model = await modelAt(server, "anthropic/claude-haiku-4-5");
  for (let i = 0; i < 5; i += 1) await turn(model);
  expect(await server.connections()).toBe(1);
});

test("1,000 concurrent turns all get their answer", async () => {
  const server = await provider(() => "x", { latencyMs: 20, record: false });
  const model = await modelAt(server, "anthropic/claude-haiku-4-5");
  const all = await Promise.all(Array.from({ length: 1_000 }, () => turn(model)));
  expect(all.filter((events) => textOf(events) === "x")).toHaveLength(1_000);
});
