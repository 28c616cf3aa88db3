import { describe, expect, test } from "vitest";
import { defineAgent } from "../../../src/core/agent/agent.ts";
import type { Event } from "../../../src/core/run/event.ts";
import type { CrewOptions } from "../../../src/crew/outfit/options.ts";
import { createCrew } from "../../../src/crew.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import type { ProviderTurn } from "../../../src/testing/provider-turn.ts";
import { kinds, provider } from "../../support/talk.ts";

const agent = defineAgent({ name: "a", description: "d", instructions: "i", tools: [] });
let drawn = 1;
/** Different numbers in a fixed order: two runs of one crew need two ids. */
const random = (): number => (drawn = (drawn * 16_807) % 2_147_483_647) / 2_147_483_647;
const base: CrewOptions = { home: false, discover: false, agents: [agent], env: {}, random };

describe.each(kinds)("a task on %s", (_, model) => {
  test.each<[what: string, turns: readonly ProviderTurn[], outcome: object]>([
    ["an answer", ["hello"], { status: "ok", output: "hello" }],
    ["a key that is refused", [{ fault: "unauthorized" }], { outcome: { fault: { code: "MODEL_AUTH" } } }],
    [
      "an interrupted answer is requested again, and its text is forgotten",
      [{ fault: "dropped", text: "so far" }, "whole"],
      { outcome: { status: "ok", output: "whole" } },
    ],
    [
      "an empty answer, twice",
      [{ fault: "empty" }, { fault: "empty" }, { fault: "empty" }],
      { outcome: { fault: { code: "EMPTY" } } },
    ],
    ["a filter", [{ text: "no", finish: "filter" }], { outcome: { fault: { code: "MODEL_REFUSED" } } }],
  ])("%s", async (_what, turns, wanted) => {
    const server = await provider(turns);
    const crew = createCrew({ ...base, env: server.env });
    const result = await crew.run({ mode: "single", agent: "a", task: "hi", model });
    const outcome = { ...result, outcome: Object.values(result.nodes)[0] };
    expect(outcome).toMatchObject(wanted);
  });
});

async function events(run: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of run) seen.push(event);
  return seen;
}

test("without any key the offline model is used; with keys, the first provider that has a key is used", async () => {
  const server = await provider(() => "hello");
  const ran = async (options: CrewOptions) => {
    const run = createCrew({ ...base, ...options }).run({ mode: "single", agent: "a", task: "hi" });
    const started = (await events(run)).find(({ type }) => type === "turn.started");
    return started?.type === "turn.started" ? [started.model, started.why] : [];
  };
  expect(await ran({})).toEqual(["offline", "the default is offline"]);
  const { GEMINI_API_KEY, GEMINI_BASE_URL } = server.env;
  const keyed = { GEMINI_API_KEY: GEMINI_API_KEY!, GEMINI_BASE_URL: GEMINI_BASE_URL! };
  expect(await ran({ env: keyed })).toEqual([
    "google/gemini-3.8-flash",
    expect.stringContaining("GEMINI_API_KEY is set"),
  ]);
  expect(await ran({ env: { ...keyed, SUBCREW_MODEL: "offline" } })).toEqual(["offline", "the default is offline"]);
  expect(await ran({ env: keyed, models: { mine: scripted("x") } })).toEqual(["mine", "the default is mine"]);
});

test("a model without its key is refused before anything runs", async () => {
  const run = createCrew(base).run({ mode: "single", agent: "a", task: "hi", model: "sonnet" });
  await expect(run).rejects.toMatchObject({
    code: "MISSING_KEY",
    hint: "ANTHROPIC_API_KEY is not set: export the key, or use --model ollama/...",
  });
  await expect(createCrew(base).run({ mode: "single", agent: "a", task: "hi", model: "sonett" })).rejects.toMatchObject(
    {
      code: "UNKNOWN_MODEL",
      hint: 'Did you mean "sonnet"?',
    },
  );
});

test("an agent whose model is not available runs on the default, and this is reported", async () => {
  const fussy = defineAgent({ ...agent, name: "fussy", model: "opus" });
  const run = createCrew({ ...base, agents: [fussy] }).run({ mode: "single", agent: "fussy", task: "hi" });
  const warnings = (await events(run)).filter(({ type }) => type === "warning");
  expect(warnings).toMatchObject([
    {
      code: "MODEL_FALLBACK",
      text: expect.stringMatching(
        /^fussy: the agent asks for opus: ANTHROPIC_API_KEY is not set.* It runs on offline\.$/,
      ),
    },
  ]);
});

test("a thinking suffix of the model name wins over the agent's thinking field, and the call's thinking field wins over the suffix", async () => {
  const model = scripted(...Array.from({ length: 3 }, () => "x"));
  const thoughtful = defineAgent({ ...agent, name: "t", model: "m:low", thinking: "high" });
  const crew = createCrew({ ...base, agents: [thoughtful], models: { m: model } });
  await crew.run({ mode: "single", agent: "t", task: "hi" });
  await crew.run({ mode: "single", agent: "t", task: "hi", thinking: "medium" });
  await crew.run({ mode: "single", agent: "t", task: "hi", thinking: "medium", model: "m:off" });
  expect(model.requests.map(({ thinking }) => thinking)).toEqual(["low", "medium", "off"]);
});

test("the task's own retry setting is followed exactly", async () => {
  const server = await provider(() => ({ fault: "overloaded" }));
  const crew = createCrew({ ...base, env: server.env });
  const retry = { maxAttempts: 3, backoffMs: 1 };
  const result = await crew.run({ mode: "single", agent: "a", task: "hi", model: "haiku", retry });
  expect(result.status).toBe("failed");
  expect(server.requests).toHaveLength(3);
});

test("the cost of a turn is known for models with a price, zero for local ones, and unknown otherwise", async () => {
  const server = await provider(() => ({ text: "x", usage: { input: 1_000_000, output: 0 } }));
  const providers = { house: { baseURL: `${server.url}/v1` } };
  const crew = createCrew({ ...base, env: server.env, providers });
  const cost = async (model: string) => (await crew.run({ mode: "single", agent: "a", task: "hi", model })).cost;
  expect(await cost("anthropic/claude-haiku-4-5")).toEqual({ usd: 1, unpriced: 0 });
  expect(await cost("anthropic/claude-of-the-future")).toEqual({ usd: 0, unpriced: 1 });
  expect(await cost("ollama/qwen3")).toEqual({ usd: 0, unpriced: 0 });
  expect(await cost("house/any")).toEqual({ usd: 0, unpriced: 1 });
});
