import { expect, test } from "vitest";
import { z } from "zod";
import {
  type CrewOptions,
  createCrew,
  defineAgent,
  type Event,
  type Result,
  type RunInput,
} from "../../../src/index.ts";
import type { JsonSchema } from "../../../src/core/text/json.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";

const finish = (result: unknown): Script => ({ calls: [{ name: "complete_task", input: { result } }] });

async function play(
  turns: readonly Script[],
  {
    output,
    schema,
    ...options
  }: Partial<Omit<CrewOptions, "output">> & { output?: JsonSchema | z.ZodType; schema?: unknown } = {},
): Promise<{ result: Result; events: Event[]; shown: unknown; turns: number }> {
  const model = scripted(...turns);
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", ...(output && { output }) })],
    models: { m: model },
    model: "m",
    ...options,
  });
  const run = crew.run({
    mode: "single",
    agent: "worker",
    task: "Do it.",
    ...(schema !== undefined && { schema }),
  } as RunInput);
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  const shown = model.requests[0]?.tools.find(({ name }) => name === "complete_task")?.input["properties"];
  return {
    result: await run,
    events,
    shown: (shown as { result?: unknown } | undefined)?.result,
    turns: model.requests.length,
  };
}

const jtd = { properties: { n: { type: "uint8" } }, optionalProperties: { tags: { elements: { type: "string" } } } };

test("an output schema may be JTD: the model is shown JSON Schema, and the result must match it", async () => {
  const { result, shown } = await play([finish({ n: 300 }), finish({ n: 3, tags: ["a"] })], { output: jtd });
  expect(shown).toMatchObject({
    type: "object",
    properties: { n: { type: "integer", maximum: 255 }, tags: { type: "array", items: { type: "string" } } },
    required: ["n"],
    additionalProperties: false,
  });
  expect(result).toMatchObject({ status: "ok", data: { n: 3, tags: ["a"] } });
  const wrong = [finish({ n: 3, more: 1 }), finish({ n: 300 }), finish({ n: 400 })];
  expect((await play(wrong, { output: jtd })).result).toMatchObject({
    status: "failed",
    fault: { code: "INVALID_OUTPUT" },
  });
});

test("an output schema may be a zod schema: rules that JSON Schema cannot express are checked, too", async () => {
  const output = z.object({ from: z.int(), to: z.int() }).refine(({ from, to }) => from < to, "from is before to");
  const { result, shown } = await play([finish({ from: 2, to: 1 }), finish({ from: 1, to: 2 })], { output });
  expect(shown).toMatchObject({ type: "object", properties: { from: { type: "integer" } }, required: ["from", "to"] });
  expect(result).toMatchObject({ status: "ok", data: { from: 1, to: 2 } });
  const wrong = await play([finish({ from: 2, to: 1 }), finish({ from: 2, to: 1 })], { output });
  expect(wrong.result).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" } });
  expect(wrong.result.fault?.message).toContain("from is before to");
});

test("the schema of a call may be JTD or a zod schema, too", async () => {
  expect((await play([finish({ n: 3 })], { schema: jtd })).result).toMatchObject({ status: "ok", data: { n: 3 } });
  const schema = z.object({ n: z.int() });
  const { result } = await play([finish({ n: "x" }), finish({ n: 3 })], { schema });
  expect(result).toMatchObject({ status: "ok", data: { n: 3 } });
});

const titled = (title: string): Record<string, unknown> => ({ type: "object", title });

test.each([
  [undefined, "A", /the schema of the task is not used/],
  ["agent", "A", /the schema of the task is not used/],
  ["call", "C", /the schema of worker is not used/],
] as const)(
  "with schemaPrecedence %s the schema that is used is %s, and the other schema is named",
  async (first, title, told) => {
    const both = { output: titled("A"), schema: titled("C") };
    const { shown, events } = await play([finish({})], {
      ...both,
      ...(first && { config: { schemaPrecedence: first } }),
    });
    expect(shown).toMatchObject({ title });
    expect(events.flatMap((event) => (event.type === "warning" ? [event.text] : []))).toEqual([
      expect.stringMatching(told),
    ]);
  },
);

test.each([
  [0, 1],
  [1, 2],
  [3, 4],
])("with %i reminders an agent that never returns a result gets %i requests in all", async (reminders, asked) => {
  const words = Array.from({ length: 6 }, () => "I think I am done.");
  const { result, turns } = await play(words, {
    output: titled("A"),
    agents: [
      defineAgent({
        name: "worker",
        description: "works",
        instructions: "Work.",
        output: titled("A"),
        limits: { reminders },
      }),
    ],
  });
  expect(result).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" } });
  expect(turns).toBe(asked);
});
