import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/core/model/model.ts";
import { faultOf, modelAt, provider, registryAt, textOf, turn } from "../../support/talk.ts";

const haiku = "anthropic/claude-haiku-4-5";
const notices = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : []));

test("after a temporary error of the provider the request is retried, and the retry is reported", async () => {
  const server = await provider([{ fault: "overloaded" }, "there"]);
  const events = await turn(await modelAt(server, haiku, { retry: true }));
  expect(textOf(events)).toBe("there");
  expect(notices(events)).toEqual([
    expect.stringMatching(/answered 529: Overloaded\. Trying again in 500ms \(1 of 3\)/),
  ]);
});

test.each(["unauthorized", "too-long", "bad-request", "no-such-model", "no-credit"] as const)(
  "a model request that fails with %s is not retried",
  async (fault) => {
    const server = await provider(() => ({ fault }));
    faultOf(await turn(await modelAt(server, haiku, { retry: true })));
    expect(server.requests).toHaveLength(1);
  },
);

test("a model request is not retried once a part of the answer was shown", async () => {
  const server = await provider(() => ({ fault: "dropped", text: "so far" }));
  const events = await turn(await modelAt(server, haiku, { retry: true }));
  expect(textOf(events)).toBe("so far");
  expect(faultOf(events).code).toBe("MODEL_NETWORK");
  expect(server.requests).toHaveLength(1);
});

test("a retry of a model request waits as long as the provider demands, with some jitter", async () => {
  const server = await provider([{ fault: "rate-limit", retryAfter: "0.6" }, "there"]);
  const began = performance.now();
  const events = await turn(await modelAt(server, haiku, { retry: true, random: () => 1 }));
  expect(textOf(events)).toBe("there");
  expect(performance.now() - began).toBeGreaterThanOrEqual(745);
  expect(notices(events)[0]).toContain("Trying again in 750ms");
});

test("a provider that demands a wait of more than a minute is not retried", async () => {
  const server = await provider(() => ({ fault: "rate-limit", retryAfter: "3600" }));
  expect(faultOf(await turn(await modelAt(server, haiku, { retry: true })))).toMatchObject({ retryAfterMs: 3_600_000 });
  expect(server.requests).toHaveLength(1);
});

test("an abort ends the wait for a retry at once", async () => {
  const server = await provider(() => ({ fault: "rate-limit", retryAfter: "59" }));
  const stop = new AbortController();
  const model = await modelAt(server, haiku, { retry: true });
  const began = performance.now();
  const events: ModelEvent[] = [];
  for await (const event of model(
    { model: "m", system: "", messages: [{ role: "user", text: "hi" }], tools: [], toolChoice: "auto" },
    stop.signal,
  )) {
    events.push(event);
    if (event.type === "notice") stop.abort();
  }
  expect(events.at(-1)?.type).toBe("error");
  expect(performance.now() - began).toBeLessThan(40_000);
});

const choose = async (...args: Parameters<ReturnType<typeof registryAt>["choose"]>) => {
  const server = await provider(
    ({ model }) =>
      (
        ({
          "claude-gone": { fault: "no-such-model" },
          "claude-busy": { fault: "overloaded" },
          "claude-locked": { fault: "unauthorized" },
        }) as const
      )[model] ?? `I am ${model}`,
  );
  const found = await registryAt(server, { default: "ollama/spare" }).choose(...args);
  if ("misses" in found) throw new Error("nothing found");
  return { server, found };
};

test("the second model of a list is used when the first one is overloaded, and from then on it comes first", async () => {
  const names = ["anthropic/claude-busy", "google/gemini-2.5-flash"];
  const { server, found } = await choose([{ by: "agent", names }], { retry: false });
  const events = await turn(found.model);
  expect(textOf(events)).toBe("I am gemini-2.5-flash");
  expect(notices(events)).toEqual([
    expect.stringMatching(/529.* Continuing with google\/gemini-2\.5-flash instead of anthropic\/claude-busy\./),
  ]);
  expect(events.at(-1)).toMatchObject({ type: "end", model: "google/gemini-2.5-flash" });
  expect(notices(await turn(found.model))).toEqual([]);
  expect(server.requests.map(({ model }) => model)).toEqual(["claude-busy", "gemini-2.5-flash", "gemini-2.5-flash"]);
});

test("a model that does not exist falls back to the default, with a warning", async () => {
  const { found } = await choose([{ by: "agent", names: "anthropic/claude-gone" }], { retry: false });
  const events = await turn(found.model);
  expect(textOf(events)).toBe("I am spare");
  expect(notices(events)[0]).toContain("Continuing with ollama/spare");
});

test("the parent's model is tried before the default", async () => {
  const wishes = [
    { by: "agent", names: "anthropic/claude-gone" },
    { by: "parent", names: "ollama/parent" },
  ] as const;
  const { found } = await choose(wishes, { retry: false });
  expect(textOf(await turn(found.model))).toBe("I am parent");
});

test.each(["anthropic/claude-busy", "anthropic/claude-locked"])(
  "the default is not a fallback for %s",
  async (names) => {
    const { found, server } = await choose([{ by: "agent", names }], { retry: false });
    faultOf(await turn(found.model));
    expect(server.requests).toHaveLength(1);
  },
);

test("a refused key falls back to the next named model, with a warning", async () => {
  const { found } = await choose([{ by: "agent", names: "anthropic/claude-locked, ollama/other" }], { retry: false });
  const [said, ...events] = await turn(found.model);
  expect(said).toMatchObject({ type: "notice", code: "MODEL_FALLBACK", text: expect.stringContaining("401") });
  expect(events).toContainEqual({ type: "text", text: "I am other" });
});

test("each model of a list has the thinking level of its own name", async () => {
  const names = "anthropic/claude-busy:high, ollama/qwen3:8b:low";
  const { server, found } = await choose([{ by: "agent", names }], { retry: false });
  await turn(found.model, { thinking: "off" });
  expect(server.requests[1]).toMatchObject({ model: "qwen3:8b", body: { reasoning_effort: "low" } });
});
