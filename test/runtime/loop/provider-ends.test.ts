import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineAgent, defineTool, type Event } from "../../../src/index.ts";
import type { ProviderTurn } from "../../../src/testing/provider-turn.ts";
import { kinds, provider } from "../../support/talk.ts";
import { patiently } from "../../support/patiently.ts";

const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const finish = (result: unknown): ProviderTurn => ({ calls: [{ name: "complete_task", input: { result } }] });
const garbage: ProviderTurn = { calls: [{ name: "look", arguments: '{"at": nonsense' }] };
const look = defineTool({
  name: "look",
  description: "looks",
  input: z.object({ at: z.string() }),
  effect: "read",
  run: () => "seen",
});
const agent = defineAgent({ name: "a", description: "d", instructions: "i", tools: ["look"] });

/** The task's own retry rule, with one attempt: the first fault of the provider is final. */
const once = { retry: { maxAttempts: 1, backoffMs: 1 } };

type Timed = [what: string, turns: readonly ProviderTurn[], task: (times: number) => object, wanted: object];
type Row = [what: string, turns: readonly ProviderTurn[], task: object, wanted: object, told?: RegExp];
const rows: readonly Row[] = [
  [
    "429 with Retry-After is waited for",
    [{ fault: "rate-limit", retryAfter: "0.05" }, "hello"],
    {},
    { status: "ok", output: "hello" },
    /Trying again/,
  ],
  [
    "429 that asks for too long",
    [{ fault: "rate-limit", retryAfter: "3600" }],
    {},
    { fault: { code: "MODEL_RATE_LIMIT", retryAfterMs: 3_600_000 } },
  ],
  ["500", [{ fault: "broken" }], once, { fault: { code: "MODEL_OVERLOADED", retryable: true } }],
  [
    "an answer that breaks off in the middle",
    [{ fault: "dropped", text: "so far " }],
    once,
    { fault: { code: "MODEL_NETWORK" }, output: "so far " },
  ],
  ["invalid arguments are answered, and the work continues", [garbage, "done"], {}, { status: "ok", output: "done" }],
  ["an empty answer, twice", [{ fault: "empty" }, { fault: "empty" }], {}, { fault: { code: "EMPTY" } }],
  [
    "a result that does not match the schema, twice",
    [finish({ n: "x" }), finish({ n: "y" })],
    { schema },
    { fault: { code: "INVALID_OUTPUT" } },
  ],
  [
    "a result that does not match the schema, once",
    [finish({ n: "x" }), finish({ n: 1 })],
    { schema },
    { status: "ok", data: { n: 1 } },
  ],
];

/** Cases in which a time limit is reached after the request was sent. */
const timed: readonly Timed[] = [
  [
    "a provider that hangs",
    [{ fault: "hang" }],
    (times) => ({ ...once, resourceLimits: { maxIdleMs: 150 * times } }),
    { fault: { code: "TIMEOUT" } },
  ],
  [
    "a provider that hangs before its first byte is asked again",
    [{ fault: "hang" }, "hello"],
    (times) => ({ resourceLimits: { maxIdleMs: 150 * times } }),
    { status: "ok", output: "hello" },
  ],
  [
    "a model that never finishes gets its last turn",
    [{ fault: "endless" }, "what I have"],
    (times) => ({ resourceLimits: { maxDurationMs: 250 * times, graceMs: 2_000 * times } }),
    { status: "ok", output: "what I have" },
  ],
  [
    "a model that does not finish in its last turn either",
    [{ fault: "endless" }, { fault: "endless" }],
    (times) => ({ resourceLimits: { maxDurationMs: 200 * times, graceMs: 150 * times } }),
    { fault: { code: "TIMEOUT" } },
  ],
];

describe.each(kinds)("%s over HTTP", (_, model) => {
  test.each(timed)("%s", (_what, turns, task, wanted) => patiently((times) => ends(turns, task(times), wanted)));
  test.each(rows)("%s", (_what, turns, task, wanted, told) => ends(turns, task, wanted, told));

  async function ends(turns: readonly ProviderTurn[], task: object, wanted: object, told?: RegExp): Promise<void> {
    const server = await provider(turns);
    const crew = createCrew({ home: false, discover: false, agents: [agent], tools: [look], env: server.env });
    const run = crew.run({ mode: "single", agent: "a", task: "go", model, ...task });
    const events: Event[] = [];
    for await (const event of run) events.push(event);
    const ends = events.filter(({ type }) => type === "node.ended");
    expect(ends).toHaveLength(1);
    expect(await run).toMatchObject(wanted);
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event.text] : [])).join("\n");
    if (told) expect(warnings).toMatch(told);
    expect(server.requests).toHaveLength(turns.length);
  }
});

test("an overloaded default model is replaced by the next one of the list, and the run reports this", async () => {
  const server = await provider(({ model }) =>
    model.startsWith("claude") ? { fault: "overloaded" } : `I am ${model}`,
  );
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent],
    tools: [look],
    env: server.env,
    model: ["anthropic/claude-haiku-4-5", "ollama/spare"],
  });
  const run = crew.run({ mode: "single", agent: "a", task: "go", ...once });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  const { nodes, output } = await run;
  expect(output).toBe("I am spare");
  expect(Object.values(nodes)[0]).toMatchObject({ model: "ollama/spare" });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "warning",
      code: "MODEL_FALLBACK",
      text: expect.stringContaining("Continuing with ollama/spare instead of anthropic/claude-haiku-4-5.") as string,
    }),
  );
  expect(events.find((event) => event.type === "turn.ended")).toMatchObject({ model: "ollama/spare" });
});
