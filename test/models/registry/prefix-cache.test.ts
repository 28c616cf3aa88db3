import { expect, test } from "vitest";
import { createCrew, defineAgent, type Result } from "../../../src/index.ts";
import { warmingPrefix } from "../../../src/models/registry/warm-prefix.ts";
import type { Model } from "../../../src/core/model/model.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { provider, request } from "../../support/talk.ts";

const SIBLINGS = 50;
/** About 5,000 tokens that all siblings share. */
const context = "The house has a green door. ".repeat(720);

async function fanOut(model: string): Promise<{ result: Result; bodies: readonly Record<string, unknown>[] }> {
  const server = await provider(() => ({ text: "done", delayMs: 20 }), { cache: true });
  const worker = defineAgent({ name: "worker", description: "d", instructions: "i", tools: [] });
  const crew = createCrew({
    home: false,
    cwd: tempFolder(),
    discover: false,
    env: server.env,
    agents: [worker],
    concurrency: SIBLINGS,
  });
  const tasks = Array.from({ length: SIBLINGS }, (_, n) => ({ agent: "worker", task: `Count window ${n}.` }));
  const result = await crew.run({ mode: "parallel", tasks, context, model, maxConcurrency: SIBLINGS });
  return { result, bodies: server.requests.map(({ body }) => body) };
}

test("50 tasks with a shared context write it to the cache of Anthropic about once", async () => {
  const { result, bodies } = await fanOut("anthropic/claude-haiku-4-5");
  expect(result.status).toBe("ok");
  const prefix = Math.ceil(context.length / 4);
  expect(result.usage.cacheWrite).toBeGreaterThan(prefix);
  // if each task wrote the prefix to the cache, this would be about 50 times the prefix
  expect(result.usage.cacheWrite).toBeLessThan(prefix * 2);
  expect(result.usage.cacheRead).toBeGreaterThan(prefix * (SIBLINGS - 1));
  expect(result.cost.saved).toBeGreaterThan(0);
  const [first] = (bodies[0] as { messages: { content: object[] }[] }).messages;
  expect(first!.content).toMatchObject([{ text: context.trim(), cache_control: { type: "ephemeral" } }, {}]);
});

test.each(["openai/gpt-5.2", "openai-chat/gpt-4o"])(
  "50 tasks with a shared context at %s have one cache key and read from it",
  async (model) => {
    const { result, bodies } = await fanOut(model);
    expect(result.status).toBe("ok");
    expect(new Set(bodies.map((body) => body["prompt_cache_key"])).size).toBe(1);
    expect(bodies[0]!["prompt_cache_key"]).toMatch(/^[0-9a-f]{32}$/);
    expect(result.usage.cacheRead).toBeGreaterThan((context.length / 4) * (SIBLINGS - 1) * 0.9);
  },
);

/** A model whose answers come when the test releases them. */
function gated(): { model: Model; begun: string[]; answer(text: string): void } {
  const begun: string[] = [];
  const waiting = new Map<string, () => void>();
  const model: Model = async function* ({ system }) {
    begun.push(system);
    await new Promise<void>((resolve) => waiting.set(system, resolve));
    yield { type: "text", text: system };
    yield { type: "end", usage: { input: 1, output: 1 } };
  };
  return { model, begun, answer: (text) => waiting.get(text)!() };
}

const ask = async (model: Model, system: string, prefix?: { key: string; chars: number }): Promise<void> => {
  for await (const _ of model(request({ system, ...(prefix && { prefix }) }), new AbortController().signal)) {
    // the events are ignored; only the end of the answer matters
  }
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const large = { key: "k", chars: 100_000 };

test("tasks with a shared context wait for the first byte of the first request, and then start together", async () => {
  const { model, begun, answer } = gated();
  const warming = warmingPrefix(model);
  const all = ["a", "b", "c"].map((name) => ask(warming, name, large));
  await turn();
  expect(begun).toEqual(["a"]);
  answer("a");
  await all[0];
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  answer("b");
  answer("c");
  await Promise.all(all);
});

test("a request with a small prefix, another prefix or no prefix does not wait for the prompt cache", async () => {
  const { model, begun, answer } = gated();
  const warming = warmingPrefix(model);
  const all = [
    ask(warming, "a", { key: "k", chars: 400 }),
    ask(warming, "b", { key: "k", chars: 400 }),
    ask(warming, "c", large),
    ask(warming, "d", { key: "other", chars: 100_000 }),
    ask(warming, "e"),
  ];
  await turn();
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
  for (const name of begun) answer(name);
  await Promise.all(all);
});

test("the wait for the prompt cache is limited: a first request without an answer does not block the others", async () => {
  const { model, begun, answer } = gated();
  const warming = warmingPrefix(model, { waitMs: 20 });
  const all = ["a", "b"].map((name) => ask(warming, name, large));
  await expect.poll(() => begun).toEqual(["a", "b"]);
  answer("a");
  answer("b");
  await Promise.all(all);
});
