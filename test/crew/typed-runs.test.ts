import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createCrew, defineAgent, type Result, type Run, type StandardSchema } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";

const range = z
  .object({ from: z.int(), to: z.int(), unit: z.string().default("lines") })
  .refine(({ from, to }) => from < to, "from is before to");
const counter = defineAgent({ name: "counter", description: "Counts.", instructions: "Count.", output: range });
const speaker = defineAgent({ name: "speaker", description: "Speaks.", instructions: "Speak." });

type Range = { from: number; to: number; unit: string };
const names = z.object({ names: z.string().transform((text) => text.split(",")) });
const finished = (result: unknown) => ({ calls: [{ name: "complete_task", input: { result } }] });
const manyAnswers = () => ({
  range: scripted(...Array.from({ length: 3 }, () => finished({ from: 1, to: 4 }))),
  names: scripted(finished({ names: "a,b" })),
  words: scripted({ text: "Hello." }, { text: "Hello." }),
});

const answers = (...results: readonly unknown[]) => ({
  home: false as const,
  discover: false,
  models: { m: scripted(...results.map((result) => ({ calls: [{ name: "complete_task", input: { result } }] }))) },
  model: "m",
});
const bare = { home: false, discover: false } as const;

test("`data` of a result has the type and the value that the schema of the task gives", async () => {
  const run = createCrew(answers({ from: 1, to: 4 })).run({ task: "Count.", schema: range });
  expectTypeOf(run).toEqualTypeOf<Run<{ from: number; to: number; unit: string }>>();
  const result = await run;
  expect(result).toMatchObject({ status: "ok", data: { from: 1, to: 4, unit: "lines" } });
  // @ts-expect-error -- a run may have failed, so the type is known once the status is
  expect(result.data.from).toBe(1);
  if (result.status === "ok") expectTypeOf(result.data.unit).toEqualTypeOf<string>();
});

test("`data` of a result has the type that the output schema of the agent gives, by the agent's name", async () => {
  const both = answers({ from: 1, to: 4 }, { from: 1, to: 4 }); // this script also fits the other agent
  const crew = createCrew({ ...both, agents: [counter, speaker] });
  const run = crew.run({ agent: "counter", task: "Count." });
  expectTypeOf(run).toEqualTypeOf<Run<{ from: number; to: number; unit: string }>>();
  expectTypeOf(crew.run({ agent: "speaker", task: "Speak." })).toEqualTypeOf<Run>();
  expectTypeOf<Result["data"]>().toEqualTypeOf<unknown>();
  expect((await run).data).toEqual({ from: 1, to: 4, unit: "lines" });
});

test("`data` of a race and of a chain has the type of the schema of its result", async () => {
  const raced = createCrew(answers({ from: 1, to: 4 })).run({ race: { task: "Count.", models: ["m"], schema: range } });
  expectTypeOf(raced).toEqualTypeOf<Run<{ from: number; to: number; unit: string }>>();
  expect(await raced).toMatchObject({ status: "ok", data: { from: 1, to: 4, unit: "lines" } });
  const { models, ...options } = answers({ from: 2, to: 4 });
  const chained = createCrew({ ...options, models: { ...models, looks: scripted({ text: "one" }) } }).run({
    chain: [
      { task: "Look.", model: "looks" },
      { task: "Count {previous}.", schema: range },
    ],
  });
  expectTypeOf(chained).toEqualTypeOf<Run<{ from: number; to: number; unit: string }>>();
  expect(await chained).toMatchObject({ status: "ok", data: { from: 2, to: 4, unit: "lines" } });
});

test("`data` of parallel tasks is a list with the type of each schema", async () => {
  const crew = createCrew({ ...answers({ from: 1, to: 4 }), models: manyAnswers() });
  const run = crew.run({
    tasks: [
      { task: "Count.", model: "range", schema: range },
      { task: "Speak.", model: "words" },
      { task: "List.", model: "names", schema: names },
    ],
  });
  expectTypeOf(run).toEqualTypeOf<Run<[Range, unknown, { names: string[] }]>>();
  expect(await run).toMatchObject({
    status: "ok",
    data: [{ from: 1, to: 4, unit: "lines" }, undefined, { names: ["a", "b"] }],
  });
  const many = crew.run({ tasks: ["one", "two"].map((task) => ({ task, model: "range", schema: range })) });
  expectTypeOf(many).toEqualTypeOf<Run<Range[]>>();
  expect(await many).toMatchObject({ data: [{ unit: "lines" }, { unit: "lines" }] });
  const untyped = crew.run({ tasks: [{ task: "Speak.", model: "words" }] });
  expectTypeOf(untyped).toEqualTypeOf<Run>();
  expect((await untyped).data).toBeUndefined();
  // @ts-expect-error -- misspelt
  await expect(crew.run({ tasks: [{ task: "x", agnet: "y", schema: range }] })).rejects.toThrow();
});

test("the data of a team maps each task id to the answer of that task, typed by the schema of the task", async () => {
  const crew = createCrew({ ...answers({ from: 1, to: 4 }), models: manyAnswers() });
  const run = crew.run({
    team: {
      tasks: [
        { id: "count", task: "Count.", model: "range", schema: range },
        { id: "say it", task: "Speak.", model: "words", depends: ["count"] },
        { id: "list", task: "List.", model: "names", schema: names },
      ],
    },
  });
  expectTypeOf(run).toEqualTypeOf<
    Run<{ readonly count: Range; readonly "say it": unknown; readonly list: { names: string[] } }>
  >();
  expect(await run).toMatchObject({
    status: "ok",
    data: { count: { from: 1, to: 4, unit: "lines" }, list: { names: ["a", "b"] } },
  });
  // @ts-expect-error -- misspelt
  await expect(crew.run({ team: { tasks: [{ id: "a", task: "x", dpends: [], schema: range }] } })).rejects.toThrow();
});

test("an answer that fails a refinement of the task's schema is sent back once", async () => {
  const run = createCrew(answers({ from: 9, to: 4 }, { from: 1, to: 4 })).run({ task: "Count.", schema: range });
  expect(await run).toMatchObject({ status: "ok", data: { from: 1, to: 4 }, usage: { turns: 2 } });
});

test("a transformation in a schema changes `data`, and the recorded value stays as the model gave it", async () => {
  const schema = z.object({ names: z.string().transform((text) => text.split(",")) });
  const result = await createCrew(answers({ names: "a,b" })).run({ task: "List.", schema });
  expectTypeOf<Extract<typeof result, { status: "ok" }>["data"]>().toEqualTypeOf<{ names: string[] }>();
  expect(result.data).toEqual({ names: ["a", "b"] });
  expect(result.nodes["task"]).toMatchObject({ data: { names: "a,b" } });
});

/** A schema of a library other than zod: Standard Schema with Standard JSON Schema. */
const even = {
  "~standard": {
    version: 1,
    vendor: "tiny",
    validate: (value: unknown) =>
      typeof value === "number" && value % 2 === 0
        ? { value: { half: value / 2 } }
        : { issues: [{ message: "is not even" }] },
    jsonSchema: { input: () => ({ type: "number" }) },
  },
} as const satisfies StandardSchema;

test("an output schema of another library works like a schema of zod", async () => {
  const run = createCrew(answers(3, 4)).run({ task: "Give an even number.", schema: even });
  expect(await run).toMatchObject({ status: "ok", data: { half: 2 }, usage: { turns: 2 } });
});

test("a schema that gives no JSON Schema is refused, and the error names an alternative", async () => {
  const { jsonSchema: _left, ...bareProps } = even["~standard"];
  const run = createCrew(bare).run({ task: "x", schema: { "~standard": bareProps } });
  await expect(run).rejects.toMatchObject({
    code: "BAD_INPUT",
    message: /tiny schema cannot be converted to JSON Schema/,
  });
});

test("an agent with its own schema cannot return data of another type than the call declares", async () => {
  const crew = createCrew({ ...answers({ from: 1, to: 4 }), agents: [counter] });
  const run = crew.run({ agent: "counter", task: "Count.", schema: z.object({ total: z.number() }) });
  expect(await run).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" } });
});

test("a wrong option is a type error, and an exception with a fix", async () => {
  // @ts-expect-error -- misspelt
  expect(() => createCrew({ modle: "x" })).toThrow(
    expect.objectContaining({ code: "BAD_INPUT", hint: 'Did you mean "model"?' }),
  );
  // @ts-expect-error -- a text instead of a number
  expect(() => createCrew({ concurrency: "4" })).toThrow(
    '"concurrency" of the options object of createCrew has to be a number',
  );
  for (const [name, value] of Object.entries({
    temperature: -5,
    topP: 2,
    cacheMs: -1,
    thinking: -1,
    limits: { maxTurns: 0 },
  })) {
    const agents = [{ name: "a", description: "d", instructions: "i", [name]: value }];
    expect(() => createCrew({ agents })).toThrow(`"agents.0.${name}`);
  }
  // @ts-expect-error -- no model
  expect(() => createCrew({ models: { a: 5 } })).toThrow('"models.a" of the options object of createCrew is not valid');
  // @ts-expect-error -- no tier
  expect(() => createCrew({ tiers: { fast: 5 } })).toThrow(
    '"tiers.fast" of the options object of createCrew has to be',
  );
  // @ts-expect-error -- no settings
  expect(() => createCrew({ providers: { anthropic: "key" } })).toThrow("has to be an object, not a text");
  expect(() => createCrew({ concurrency: Number.NaN })).toThrow("has to be a number, not NaN");
  const crew = createCrew(bare);
  for (const wrong of [null, "do it", { race: null }, { tasks: [null] }, { team: { tasks: [5] } }])
    await expect(crew.run(wrong as never)).rejects.toMatchObject({
      code: "BAD_INPUT",
      hint: expect.stringMatching(/./),
    });
  // @ts-expect-error -- misspelt
  expect(() => crew.run({ task: "x" }, { sginal: AbortSignal.abort() })).toThrow(
    expect.objectContaining({ hint: 'Did you mean "signal"?' }),
  );
  // @ts-expect-error -- misspelt
  await expect(crew.run({ task: "x", agnet: "explore" })).rejects.toMatchObject({ hint: 'Did you mean "agent"?' });
  // @ts-expect-error -- there is no such mode
  await expect(crew.run({ mode: "sequence", tasks: [] })).rejects.toMatchObject({ code: "BAD_INPUT" });
});
