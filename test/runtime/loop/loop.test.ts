import { expect, test } from "vitest";
import { z } from "zod";
import type { RunOptions } from "../../../src/crew/prepare/run-options.ts";
import { createCrew, defineAgent, defineTool, type Event, type Model } from "../../../src/index.ts";
import { prompts } from "../../../src/embedded.ts";
import { never, type Script, scripted } from "../../../src/models/scripted/scripted.ts";

const look = defineTool({
  name: "look",
  description: "looks",
  input: z.object({ at: z.string() }),
  effect: "read",
  run: ({ at }) => `saw ${at}`,
});
const agent = (more: object = {}) =>
  defineAgent({ name: "worker", description: "works", instructions: "Work.", ...more });

async function play(
  turns: readonly Script[] | Model,
  { more = {}, options = {}, task = {} }: { more?: object; options?: RunOptions; task?: object } = {},
) {
  const model = typeof turns === "function" ? turns : scripted(...turns);
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent(more)],
    tools: [look],
    models: { m: model },
    model: "m",
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it.", ...task }, options);
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  const requests = "requests" in model ? (model.requests as ReturnType<typeof scripted>["requests"]) : [];
  return { result: await run, events, requests, types: events.map(({ type }) => type) };
}
const calls = (...ats: string[]): Script => ({ calls: ats.map((at) => ({ name: "look", input: { at } })) });

test("the last message is the result of an agent without a schema", async () => {
  const { result, requests } = await play(["All done."]);
  expect(result).toMatchObject({ status: "ok", output: "All done." });
  expect(requests[0]?.tools.map(({ name }) => name)).not.toContain("complete_task");
});

test("an empty answer is requested once more, and then fails with its own code", async () => {
  expect((await play(["", "here"])).result).toMatchObject({ status: "ok", output: "here" });
  expect((await play(["", ""])).result).toMatchObject({ status: "failed", fault: { code: "EMPTY" } });
});

const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
const finish = (result: unknown, name = "complete_task"): Script => ({ calls: [{ name, input: { result } }] });

test("with a schema the finish tool's input is validated, and its data is the result", async () => {
  const { result } = await play([finish({ n: 4 })], { more: { output: schema } });
  expect(result).toMatchObject({ status: "ok", data: { n: 4 } });
});

test.each(["complete_task", "submit_result", "yield"])("the finish tool can be called %s", async (name) => {
  expect((await play([finish({ data: { n: 1 } }, name)], { more: { output: schema } })).result).toMatchObject({
    status: "ok",
    data: { n: 1 },
  });
});

test("an invalid result is sent back with the reason, and a second invalid result fails the task", async () => {
  const mended = await play([finish({ n: "four" }), finish({ n: 4 })], { more: { output: schema } });
  expect(mended.result.status).toBe("ok");
  const told = mended.requests[1]?.messages.at(-1);
  expect(told?.role === "tool" && told.results[0]?.text).toMatch(/Output validation failed: n must be number/);
  const twice = await play([finish({ n: "four" }), finish({ n: "five" })], { more: { output: schema } });
  expect(twice.result).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" } });
});

test.each([
  ["empty", {}, "", prompts.remindEmpty],
  [
    "not a match for the schema",
    { completion: "text", output: { type: "object", required: ["n"] } },
    "{}",
    prompts.remindJson.split("{problem}")[0]!,
  ],
])("an answer that is %s is requested again with the reason", async (_what, more, first, reminder) => {
  const { requests, result } = await play([first, '{"n": 1}'], { more });
  expect(result.status).toBe("ok");
  const last = requests[1]?.messages.at(-1);
  expect(last?.role === "user" && last.text.startsWith(reminder.trim())).toBe(true);
});

test("an agent that stops without the finish tool is reminded, and forced to call it", async () => {
  const { result, requests } = await play(["I think I am done.", finish({ n: 1 })], { more: { output: schema } });
  expect(result.status).toBe("ok");
  expect(requests[1]).toMatchObject({ toolChoice: { tool: "complete_task" }, tools: requests[0]!.tools });
});

test("a second finish call of one turn is ignored, and the first one counts", async () => {
  const both: Script = {
    calls: [
      { name: "complete_task", input: { result: "one" } },
      { name: "complete_task", input: { result: "two" } },
    ],
  };
  expect((await play([both], { more: { completion: "tool" } })).result).toMatchObject({ status: "ok", output: "one" });
});

test("reaching the turn limit gives one grace turn in which only returning the result is possible", async () => {
  const { result, requests, types } = await play([calls("a"), calls("b"), "what I have"], {
    task: { resourceLimits: { maxTurns: 2 } },
  });
  expect(result).toMatchObject({ status: "ok", output: "what I have" });
  expect(requests[2]).toMatchObject({ toolChoice: "none", tools: requests[0]!.tools });
  expect(types).toContain("limit.reached");
});

test("a grace turn without a result fails with the limit's code and keeps the text so far", async () => {
  const { result } = await play([{ text: "so far so good", calls: [{ name: "look", input: { at: "a" } }] }, ""], {
    task: { resourceLimits: { maxTurns: 1 } },
  });
  expect(result).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" }, output: "so far so good" });
});

test("a limit that is not enforced is reported once and the work continues", async () => {
  const { result, events } = await play([calls("a"), calls("b"), "done"], {
    task: { resourceLimits: { maxTurns: 1, enforceLimits: false } },
  });
  expect(result.status).toBe("ok");
  expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([{ enforced: false }]);
});

test("a time limit that is not enforced is reported once, also when it passes in the last turn", async () => {
  const limits = { resourceLimits: { maxDurationMs: 20, enforceLimits: false } };
  const look = [{ name: "look", input: { at: "a" } }];
  for (const turns of [[{ delayMs: 60, text: "done" }], [{ delayMs: 60, calls: look }, "done"]]) {
    const { result, events } = await play(turns, { task: limits });
    expect(result.status).toBe("ok");
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([
      { limit: "TIMEOUT", enforced: false, text: "The limit of 20ms of time was reached." },
    ]);
  }
});

test("a task that takes too long gets its grace turn", async () => {
  const slow: Model = async function* (request, signal) {
    if (request.messages.length === 1) yield* never(request, signal);
    else {
      yield { type: "text", text: "late" };
      yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
    }
  };
  expect((await play(slow, { task: { resourceLimits: { maxDurationMs: 30 } } })).result).toMatchObject({
    status: "ok",
    output: "late",
  });
});

test("a turn whose model sends nothing times out", async () => {
  const { result } = await play(never, { task: { resourceLimits: { maxIdleMs: 30 } } });
  expect(result).toMatchObject({
    status: "failed",
    fault: { code: "TIMEOUT", message: "The model sent nothing for 30ms." },
  });
});

test("an agent that repeats a call with the same result is warned, then stopped", async () => {
  const { result, requests } = await play(Array.from({ length: 8 }, () => calls("x")));
  expect(result).toMatchObject({ status: "failed", fault: { code: "STUCK" } });
  const told = requests[3]?.messages.at(-1);
  expect(told?.role === "tool" && told.results[0]?.text).toMatch(/same call with the same result/);
  expect(requests).toHaveLength(6); // the last turn returns the result
});

test("an agent that repeats denied calls is stopped", async () => {
  const { result, events } = await play(
    Array.from({ length: 20 }, (_, n): Script => ({ calls: [{ name: "look", input: { at: `${n}` } }] })),
    { more: { tools: [] } },
  );
  expect(result).toMatchObject({ status: "failed", fault: { code: "DENIED" } });
  expect(events.filter(({ type }) => type === "tool.denied")).toHaveLength(6); // one of them in the last turn
  expect(events.some(({ type }) => type === "tool.started")).toBe(false);
});

test("a context that stays too long for the provider fails the task after one attempt to shorten it", async () => {
  const tooLong: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const { result, requests } = await play([calls("a"), ...Array.from({ length: 9 }, () => tooLong), "at last"]);
  expect(result).toMatchObject({ status: "failed", fault: { code: "MODEL_CONTEXT", message: "too long" } });
  // the turn with the call, and two refused turns with a summary between them
  expect(requests.length).toBeLessThanOrEqual(4);
});

test("a context that is too long for the provider is shortened, once", async () => {
  const tooLong: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const long = defineTool({
    name: "long",
    description: "much",
    input: z.object({}),
    effect: "read",
    run: () => "x".repeat(5_000),
  });
  const model = scripted(
    ...Array.from(
      { length: 8 },
      (): Script => ({
        calls: [
          { name: "long", input: {} },
          { name: "look", input: { at: String(Math.random()) } },
        ],
      }),
    ).slice(0, 4),
    tooLong,
    "the summary",
    "done",
  );
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent()],
    tools: [look, long],
    models: { m: model },
    model: "m",
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it." });
  const seen: Event[] = [];
  for await (const event of run) seen.push(event);
  expect(await run).toMatchObject({ status: "ok", output: "done" });
  expect(seen.find(({ type }) => type === "context.compacted")).toBeDefined();
  const last = model.requests.at(-1)!;
  expect(last.messages[0]).toEqual({ role: "user", text: "Do it." });
  expect(JSON.stringify(last.messages)).toContain("the summary");
  expect(JSON.stringify(last.messages).length).toBeLessThan(JSON.stringify(model.requests[4]!.messages).length / 1.3);
});

test("a budget of turns and tool calls covers the whole run", async () => {
  const turns = await play([calls("a"), calls("b"), "late"], { options: { budget: { maxTurns: 2 } } });
  expect(turns.result).toMatchObject({ status: "ok", output: "late" });
  const { result, requests } = await play([calls("a", "b", "c"), "done"], { options: { budget: { maxToolCalls: 2 } } });
  expect(result.status).toBe("ok");
  expect(result).toMatchObject({ limit: { kind: "toolCalls", value: 2, run: true } });
  const told = requests[1]?.messages.at(-2);
  expect(told?.role === "tool" && told.results[2]?.text).toMatch(/Not carried out: the run is limited to 2 tool calls/);
});

test("a limit in dollars needs a price", async () => {
  const { result } = await play(["x"], { options: { budget: { maxUsd: 1 } } });
  expect(result).toMatchObject({ status: "failed", fault: { code: "BUDGET" } });
});

test("50 subagents of a provider that sends longer answers than requested exceed the budget by one call at most", async () => {
  const greedy: Model = async function* (request, signal) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 1 + Math.random() * 20);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    if (signal.aborted) return;
    yield { type: "text", text: "word" };
    yield { type: "end", usage: { input: 100, output: (request.maxOutputTokens ?? 0) + 3_000 }, cost: 0 };
  };
  const maxTokens = 100_000;
  const crew = createCrew({ home: false, discover: false, agents: [agent()], models: { m: greedy }, model: "m" });
  const run = crew.run(
    { mode: "parallel", agent: "worker", tasks: Array.from({ length: 50 }, (_, n) => ({ task: `Task ${n}` })) },
    { concurrency: 50, budget: { maxTokens } },
  );
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  const { usage, nodes } = await run;
  expect(usage.input + usage.output).toBeLessThanOrEqual(maxTokens + 3_100);
  expect(usage.input + usage.output).toBeGreaterThan(maxTokens / 2);
  expect(Object.values(nodes).some((outcome) => outcome.status === "failed" && outcome.fault.code === "BUDGET")).toBe(
    true,
  );
  expect(events.some((event) => event.type === "limit.reached" && event.limit === "BUDGET")).toBe(true);
});

test("inputs that an agent declares are filled in, and other text with a dollar sign stays", async () => {
  const more = {
    instructions: "Look at ${target} with ${HOME} and ${today}.",
    inputs: { target: { type: "string", description: "t", required: true } },
  };
  const { requests } = await play(["ok"], { more, task: { inputs: { target: "src" } } });
  expect(requests[0]?.system).toMatch(/Look at src with \$\{HOME\} and \w{3} \w{3} \d\d \d{4}\./);
  const { result } = await play(["ok"], { more });
  expect(result).toMatchObject({
    status: "failed",
    fault: { code: "BAD_INPUTS", message: '"worker" cannot start: the input target is missing.' },
  });
});

test("a message to a running task is stored, and read before its next turn", async () => {
  const model = scripted(calls("a"), (request) => `heard: ${JSON.stringify(request.messages.at(-1))}`);
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent()],
    tools: [look],
    models: { m: model },
    model: "m",
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it." });
  const receipts: boolean[] = [];
  for await (const event of run)
    if (event.type === "tool.started") receipts.push(await run.send("worker", "look left"));
  expect(receipts).toEqual([true]);
  expect((await run).output).toContain("look left");
  expect(await run.send("worker", "too late")).toBe(false);
});

test("a message that arrives with the final answer gets its own turn", async () => {
  const late: { send?: () => Promise<boolean> } = {};
  const model = scripted(async () => ((await late.send?.()) ? "done" : "nobody heard"), "done, and left, too");
  const crew = createCrew({ home: false, discover: false, agents: [agent()], models: { m: model }, model: "m" });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it." });
  late.send = () => run.send("worker", "and left?");
  expect((await run).output).toBe("done, and left, too");
});
