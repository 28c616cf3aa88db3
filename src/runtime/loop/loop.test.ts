import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf, type WorldParts } from "../../../test/support/task-world.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { defineTool, type ToolContext } from "../../core/task/tool.ts";
import { type Script, type ScriptedModel, scripted } from "../../models/scripted/scripted.ts";
import { stopped } from "../async/cancel.ts";
import { loop } from "./loop.ts";

const look = (at: string, text = ""): Script => ({ text, calls: [{ name: "look", input: { at } }] });
const finish = (result: unknown): Script => ({ calls: [{ name: "complete_task", input: { result } }] });
const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

/** All requests have the same system prompt and tools, which a provider caches. */
function expectSameHead({ requests: [first, ...more] }: ScriptedModel): void {
  for (const { system, tools } of more)
    expect({ system, tools }).toEqual({ system: first?.system, tools: first?.tools });
}

type Played = Readonly<{ outcome: Outcome; model: ScriptedModel; facts: readonly Fact[] }>;

/** The function of the tool, and whether the task is a review. */
type Watched = Readonly<{ seen?: (at: string, given: ToolContext) => unknown; review?: true }>;

/** Plays these turns of the model of `worker`, which has one tool, until the task has an outcome. */
async function play(
  turns: readonly Script[],
  agent: WorldParts["agent"] = {},
  { seen, review, ...more }: Partial<PerformContext> & Watched = {},
): Promise<Played> {
  const model = scripted(...turns);
  const tool = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.string() }),
    effect: "read",
    run: async ({ at }, given) => {
      await seen?.(at, given);
      return `saw ${at}`;
    },
  });
  const { context, facts } = contextOf(more);
  const parts = { tools: [tool], models: { m: model }, agent };
  const outcome = await loop(await assignmentOf(parts, {}, review && { review }), context);
  return { outcome, model, facts };
}

test("the model and its tools take turns until the model answers without a call", async () => {
  const { outcome, model } = await play([look("a"), look("b"), "Seen both."]);
  expect(outcome).toMatchObject({
    status: "ok",
    output: "Seen both.",
    model: "m",
    usage: { turns: 3 },
    tools: { look: 2 },
  });
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
});

describe("a limit of turns", () => {
  const agent = { limits: { maxTurns: 1 } };

  test("gives one last turn with the same system prompt and tools, in which no tool may be called", async () => {
    const { outcome, model, facts } = await play([look("a"), "Half of it."], agent);
    expect(outcome).toMatchObject({ status: "ok", output: "Half of it." });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
    expectSameHead(model);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "user",
      text: expect.stringContaining("limit of this task (1 turn)"),
    });
    expect(facts).toContainEqual(
      expect.objectContaining({ type: "limit.reached", limit: "MAX_TURNS", enforced: true }),
    );
  });

  test("fails the task when that turn returns nothing; earlier text is kept", async () => {
    const { outcome, model, facts } = await play([look("a", "So far so good."), look("b"), "too late"], agent);
    expect(outcome).toMatchObject({
      status: "failed",
      fault: { code: "MAX_TURNS", hint: "Raise the limit with --max-turns.", retryable: false },
      output: "So far so good.",
      limit: { kind: "turns", value: 1 },
    });
    expect(model.requests).toHaveLength(2);
    expect(facts.filter(({ type }) => type === "warning")).toEqual([]);
    const { outcome: later } = await play([look("a", "So far."), look("b", "A bit more.")], agent);
    expect(later).toMatchObject({ status: "failed", output: "A bit more." });
  });

  test("is only reported, once, where limits are not enforced", async () => {
    const { outcome, facts } = await play([look("a"), look("b"), "Done."], {
      limits: { maxTurns: 1, enforceLimits: false },
    });
    expect(outcome).toMatchObject({ status: "ok", output: "Done." });
    expect(facts.filter(({ type }) => type === "limit.reached")).toMatchObject([{ enforced: false }]);
  });
});

describe("a result that is missing or not valid", () => {
  test("is requested once more, with a forced call of the finish tool if it was not called", async () => {
    const { outcome, model } = await play(["I am done.", finish({ n: 1 })], { output });
    expect(outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    expect(model.requests[1]?.toolChoice).toEqual({ tool: "complete_task" });
    expectSameHead(model);
  });

  test("is requested as often as the limits say, after a rejected result with its reason", async () => {
    const turns = ["I am done.", finish({ n: "x" }), finish({ n: 1 })];
    const { outcome, model } = await play(turns, { output, limits: { reminders: 2 } });
    expect(outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", { tool: "complete_task" }, "auto"]);
    expectSameHead(model);
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({
      role: "tool",
      results: [{ text: expect.stringMatching(/^Output validation failed: n must be number/) }],
    });
    expect((await play(turns, { output })).outcome).toMatchObject({ status: "ok" });
    expect((await play(turns, { output, limits: { reminders: 0 } })).model.requests).toHaveLength(1);
  });

  test("is corrected three times, and no longer after the same problem twice", async () => {
    const different = [finish({ n: "x" }), finish({}), finish("no JSON")];
    const mended = await play([...different, finish({ n: 1 })], { output });
    expect(mended.outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    const never = await play([...different, finish({ n: "z" }), finish({ n: 1 })], { output });
    expect(never.outcome).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" }, data: { n: "z" } });
    expect(never.model.requests).toHaveLength(4);
    const same = await play([finish({ n: "x" }), finish({ n: "y" }), finish({ n: 1 })], { output });
    expect(same.outcome).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT" } });
    expect(same.model.requests).toHaveLength(2);
  });

  test("is accepted with a slip, which an event names", async () => {
    const { outcome, facts, model } = await play([finish('{"n": 1}')], { output });
    expect(outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    expect(outcome).not.toHaveProperty("slips");
    expect(model.requests).toHaveLength(1);
    expect(facts).toContainEqual({
      type: "warning",
      code: "RESULT_CORRECTED",
      text: "The result was corrected: it was a JSON string.",
    });
  });

  test("is requested with the reason when the text of the answer is the result", async () => {
    const typed = { output, completion: "text" } as const;
    const wrong = await play(["no JSON", '{"n": 1}'], typed);
    expect(wrong.outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    expect(wrong.model.requests[1]?.messages.at(-1)).toMatchObject({
      text: expect.stringContaining("the answer is not JSON"),
    });
    expect(wrong.model.requests[1]?.tools).toHaveLength(1);
    const nothing = await play(["", '{"n": 1}'], typed);
    expect(nothing.model.requests[1]?.messages.at(-1)).toMatchObject({ text: expect.not.stringContaining("JSON") });
  });

  test("fails the task the second time, with a code for the reason", async () => {
    const wrong = await play([finish({ n: "x" }), finish({ n: "y" }), finish({ n: 1 })], { output });
    expect(wrong.outcome).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT", retryable: true } });
    expect((await play([look("a", "So far."), "", "", "late"])).outcome).toMatchObject({
      status: "failed",
      fault: { code: "EMPTY", retryable: true },
      output: "So far.",
    });
  });

  test("is not requested from a reviewer that states its verdict", async () => {
    const answers = (text: string, more: Watched = {}) => play([text, finish({ n: 1 })], { output }, more);
    const stated = await answers("All is well.\nAPPROVED", { review: true });
    expect(stated.outcome).toMatchObject({ status: "ok", output: "All is well.\nAPPROVED" });
    expect((await answers("I looked at it.", { review: true })).outcome).toMatchObject({ data: { n: 1 } });
    expect((await answers("All is well.\nAPPROVED")).outcome).toMatchObject({ data: { n: 1 } });
  });

  test("is final when the agent reports that it gave up", async () => {
    const { outcome, model } = await play([finish({ error: "there is no such file" }), finish({ n: 1 })], { output });
    expect(outcome).toMatchObject({
      status: "failed",
      fault: { code: "AGENT_REPORTED", message: "there is no such file" },
    });
    expect(model.requests).toHaveLength(1);
  });
});

test("a task that is cancelled during a tool call ends with the reason and its text so far", async () => {
  const controller = new AbortController();
  const { outcome, model } = await play(
    [look("a", "Half of it."), "never said"],
    {},
    {
      signal: controller.signal,
      seen: () => controller.abort(stopped("enough")),
    },
  );
  expect(outcome).toMatchObject({ status: "cancelled", reason: "enough", output: "Half of it." });
  expect(model.requests).toHaveLength(1);
});

test("a context that is too long is shortened once; a task fails if its model still refuses the context", async () => {
  const full: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const mended = await play([full, "Done."]);
  expect(mended.outcome).toMatchObject({ status: "ok", output: "Done." });
  expect(mended.facts.filter(({ type }) => type === "context.compacted")).toHaveLength(1);
  expect((await play([full, full, "Done."])).outcome).toMatchObject({
    status: "failed",
    fault: { code: "MODEL_CONTEXT" },
  });
});

test("a long conversation is summarised before the next turn when the provider refuses its length", async () => {
  const full: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const looks = Array.from({ length: 8 }, (_, n) => look(`${n}`));
  const { outcome, model } = await play([...looks, full, "It looked.", "Done."]);
  expect(outcome).toMatchObject({ status: "ok", output: "Done." });
  const [refused, summary, last] = model.requests.slice(-3).map(({ messages }) => messages.length);
  expect([refused, summary]).toEqual([17, 1]);
  expect(last).toBeLessThan(17);
  const [first] = model.requests;
  expect(model.requests.at(-1)).toMatchObject({ system: first!.system, tools: first!.tools });
});

test("an agent that repeats a call, and an agent whose calls are all denied, are stopped; their text is kept", async () => {
  const stuck = await play(Array.from({ length: 8 }, () => look("a", "Again.")));
  expect(stuck.outcome).toMatchObject({ status: "failed", fault: { code: "STUCK" }, output: "Again." });
  const others = Array.from({ length: 20 }, (_, n) => look(`${n}`, "Please."));
  const denied = await play(others, { tools: [] });
  expect(denied.outcome).toMatchObject({ status: "failed", fault: { code: "DENIED" }, output: "Please." });
});

test("a message that arrives while the task finishes gets another turn", async () => {
  const letters = ["Mind the roof, too."];
  const { outcome, model } = await play(
    ["Done.", "Done, and the roof."],
    {},
    {
      mail: async (wait) => (wait ? letters.splice(0) : []),
    },
  );
  expect(outcome).toMatchObject({ status: "ok", output: "Done, and the roof." });
  expect(model.requests[1]?.messages.at(-1)).toEqual({ role: "user", text: "Mind the roof, too." });
});

describe("a budget that refuses a turn", () => {
  test("before the first turn: the task does not begin, and the error names the limit and a fix", async () => {
    const tokens = await play(["never asked"], {}, { budget: createBudget({ maxTokens: 5 }) });
    expect(tokens.outcome).toMatchObject({
      status: "failed",
      fault: {
        message: "The first request of this task needs more than the rest of the limit of 5 tokens for the whole run.",
      },
      limit: { kind: "tokens", value: 5 },
    });
    const turns = await play(["never asked"], {}, { budget: createBudget({ maxTurns: 0 }) });
    expect(turns.outcome).toMatchObject({
      fault: { message: expect.stringMatching(/^The run reached its limit of 0 turns.* before this task began\.$/) },
    });
    expect([...tokens.model.requests, ...turns.model.requests]).toEqual([]);
  });

  test("fails a model without a price where dollars are limited", async () => {
    const { outcome } = await play(["never asked"], {}, { budget: createBudget({ maxUsd: 1 }) });
    expect(outcome).toMatchObject({
      status: "failed",
      fault: { code: "BUDGET", message: "The price of m is unknown, so a limit in dollars cannot be enforced." },
    });
  });

  test("lets the task wait where it may, and the task continues or ends with the reason", async () => {
    const limited = createBudget({ maxTokens: 1 });
    const open = createBudget({});
    let waits = 0;
    const parks = (goesOn: boolean): NonNullable<PerformContext["parks"]> => ({
      onLimit: "park",
      onProviderFault: "fail",
      park: async () => {
        waits += 1;
        return goesOn;
      },
    });
    const budget = {
      ...limited,
      reserve: (...asked: Parameters<typeof open.reserve>) => (waits > 0 ? open : limited).reserve(...asked),
    };
    expect((await play(["Done."], {}, { budget, parks: parks(true) })).outcome).toMatchObject({
      status: "ok",
      output: "Done.",
    });
    expect(waits).toBe(1);
    const stoppedMeanwhile = await play(["Done."], {}, { budget: limited, parks: parks(false) });
    expect(stoppedMeanwhile.outcome).toMatchObject({ status: "cancelled" });
  });
});

test("an agent whose result is everything it said returns all its texts, except where a tool or a schema gives the result", async () => {
  const turns = [look("a", "First."), look("b"), "Last."];
  expect((await play(turns)).outcome).toMatchObject({ output: "Last." });
  expect((await play(turns, { summary: "all" })).outcome).toMatchObject({ output: "First.\n\nLast." });
  expect((await play(["Only."], { summary: "all" })).outcome).toMatchObject({ output: "Only." });
  const full: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const said = ["One.", "Two.", "Three.", "Four.", "Five.", "Six."];
  const compacted = await play([...said.map((text, at) => look(`${at}`, text)), full, "A summary.", "Last."], {
    summary: "all",
  });
  expect(compacted.facts).toContainEqual(expect.objectContaining({ type: "context.compacted", summary: "A summary." }));
  expect(compacted.outcome).toMatchObject({ output: [...said, "Last."].join("\n\n") });
  const typed = await play([look("a", "First."), finish({ n: 1 })], { summary: "all", output });
  expect(typed.outcome).toMatchObject({ status: "ok", data: { n: 1 } });
  expect(JSON.stringify(typed.outcome)).not.toContain("First.");
});

test("a result that is rejected is kept with the failure", async () => {
  const { outcome } = await play([finish({ n: "x" }), finish({ n: "y" })], { output });
  expect(outcome).toMatchObject({ status: "failed", output: JSON.stringify({ n: "y" }, null, 2), data: { n: "y" } });
  const long = { type: "string", minLength: 5 };
  const short = await play([finish("x"), finish("y")], { output: long });
  expect(short.outcome).toMatchObject({ status: "failed", output: "y", data: "y" });
  const missing = await play(
    [
      finish({ n: 1 }),
      ...Array.from({ length: 2 }, () => ({ text: "Here.", calls: [{ name: "complete_task", input: { a: 1 } }] })),
    ],
    {
      output: long,
    },
  );
  expect(missing.outcome).toMatchObject({ fault: { code: "INVALID_OUTPUT", retryable: true }, output: "Here." });
});

test("a task is warned once that it is near its limit of turns, and its conversation is handed over", async () => {
  const remembered: unknown[] = [];
  const turns = Array.from({ length: 19 }, (_, at) => look(`${at}`));
  const { facts } = await play(
    [...turns, "Done."],
    { limits: { maxTurns: 20 } },
    { remember: (messages) => remembered.push(messages.length) },
  );
  const near = (told: readonly Fact[]) => told.flatMap((one) => (one.type === "warning" ? [[one.code, one.text]] : []));
  const text = (taken: number, of: number): string =>
    `The task has taken ${taken} turns and may take ${of} turns; then the agent returns the result it has so far. Raise the limit with --max-turns.`;
  expect(near(facts)).toEqual([["LIMIT_NEAR", text(18, 20)]]);
  expect(remembered).toHaveLength(1);
  const ten = await play([...turns.slice(0, 9), "Done."], { limits: { maxTurns: 10 } });
  expect(near(ten.facts)).toEqual([["LIMIT_NEAR", text(9, 10)]]);
});

describe("a budget that is used up after some turns", () => {
  const limit = { kind: "turns", value: 1, run: true };

  test("gives one last turn, whose result or text is kept with the limit", async () => {
    const budget = () => createBudget({ maxTurns: 1 });
    const { outcome, facts } = await play([look("a"), "Half of it."], {}, { budget: budget() });
    expect(outcome).toMatchObject({ status: "ok", output: "Half of it.", limit });
    expect(facts).toContainEqual({
      type: "limit.reached",
      limit: "MAX_TURNS",
      text: "The budget is used up: the run is limited to 1 turns in all.",
      enforced: true,
      reached: limit,
    });
    const failing = await play([look("a", "So far."), look("b")], {}, { budget: budget() });
    expect(failing.outcome).toMatchObject({
      status: "failed",
      fault: { code: "MAX_TURNS", hint: "Raise the limit with --max-run-turns.", retryable: false },
      output: "So far.",
    });
  });

  test("also refuses tool calls, and the last turn if the budget has no room for it", async () => {
    const calls = await play([look("a"), look("b"), "Half."], {}, { budget: createBudget({ maxToolCalls: 1 }) });
    expect(calls.outcome).toMatchObject({ status: "ok", output: "Half.", limit: { kind: "toolCalls", value: 1 } });
    const open = createBudget({});
    const shut = createBudget({ maxTokens: 1 });
    let turns = 0;
    const budget = {
      ...open,
      reserve: (...asked: Parameters<typeof open.reserve>) => ((turns += 1) === 1 ? open : shut).reserve(...asked),
    };
    const { outcome } = await play([look("a", "So far."), "never asked"], {}, { budget });
    expect(outcome).toMatchObject({ status: "failed", fault: { code: "BUDGET" }, output: "So far." });
  });

  test("lets a task wait if it may wait, also between the calls of a turn", async () => {
    let waits = 0;
    const limited = createBudget({ maxToolCalls: 1 });
    const parks: NonNullable<PerformContext["parks"]> = {
      onLimit: "park",
      onProviderFault: "fail",
      park: async () => (waits += 1) < 2,
    };
    const { outcome, model } = await play(
      [look("a"), look("b"), look("c", "Third."), "never asked"],
      {},
      {
        budget: limited,
        parks,
      },
    );
    expect(outcome).toMatchObject({ status: "cancelled", output: "Third." });
    expect([waits, model.requests.length]).toEqual([2, 3]);
  });
});

test("a task that is stopped while it waits for its provider sends no further request", async () => {
  const busy: Script = { error: { code: "MODEL_RATE_LIMIT", message: "slow down", retryable: true } };
  const { outcome, model } = await play(
    [busy, "never asked"],
    {},
    {
      parks: { onLimit: "end", onProviderFault: "park", park: async () => false },
    },
  );
  expect(outcome).toMatchObject({ status: "cancelled" });
  expect(model.requests).toHaveLength(1);
});

test("a task that is stopped in its last turn keeps its text, and ends as cancelled, not as over its limit", async () => {
  const controller = new AbortController();
  const stops: Script = () => {
    controller.abort(stopped("enough"));
    return "too late";
  };
  const agent = { limits: { maxTurns: 1 } };
  const { outcome } = await play([look("a", "So far."), stops], agent, { signal: controller.signal });
  expect(outcome).toMatchObject({ status: "cancelled", reason: "enough", output: "So far." });
  expect(outcome).not.toHaveProperty("limit");
});

test("a task that has ended leaves no timer and no listener behind", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { signal } = new AbortController();
  const { outcome } = await play([look("a"), "Half of it."], { limits: { maxTurns: 1 } }, { signal });
  expect(outcome).toMatchObject({ status: "ok" });
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("the time in which a task waits for agents, people, messages and its budget does not count for its limit", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: unknown[] = [];
  const waited = async <T>(what: unknown, answer: T): Promise<T> => {
    asked.push(what);
    await vi.advanceTimersByTimeAsync(90_000);
    return answer;
  };
  const letters = ["Mind the roof."];
  const limited = createBudget({ maxTurns: 1 });
  const open = createBudget({});
  let parked = false;
  const { outcome, facts } = await play(
    [look("ask"), look("delegate"), "Done.", "Done, and the roof."],
    { limits: { maxDurationMs: 60_000 } },
    {
      seen: (at, given) =>
        at === "ask" ? given.ask?.("sure?") : given.delegate({ mode: "single", task: "help" }).then(() => {}),
      ask: (question) => waited(question, { approve: true }),
      delegate: (what, parent) => waited([what, parent.spawns], { status: "ok", output: "helped" }),
      mail: async (wait) => (wait ? waited("mail", letters.splice(0)) : []),
      budget: { ...open, count: (what) => (parked ? open : limited).count(what) },
      parks: {
        onLimit: "park",
        onProviderFault: "fail",
        park: async (why) => {
          parked = true;
          return waited(why.waitsFor, true);
        },
      },
    },
  );
  expect(outcome).toMatchObject({ status: "ok", output: "Done, and the roof." });
  expect(asked).toEqual(["sure?", "budget", [{ mode: "single", task: "help" }, "*"], "mail", "mail"]);
  expect(facts.filter(({ type }) => type === "limit.reached")).toEqual([]);
});

test("a task that made no progress before it was resumed still takes only its last turn", async () => {
  const told = [
    { type: "turn.started", turn: 1, model: "m" },
    { type: "turn.ended", turn: 1, text: "", calls: [], usage: {}, cost: { usd: 0, unpriced: 0 } },
    { type: "limit.reached", limit: "STUCK", text: "It repeats itself.", enforced: true },
  ].map((fact, seq) => ({ seq, ...fact }) as unknown as KeptEvent);
  const { outcome, model } = await play([look("a")], { output }, { past: () => Promise.resolve(told) });
  expect(outcome).toMatchObject({ status: "failed", fault: { code: "STUCK", message: "It repeats itself." } });
  expect(model.requests).toMatchObject([{ toolChoice: { tool: "complete_task" } }]);
});

test("a resumed task carries out the recorded calls that have no result, once, and keeps the text beside them", async () => {
  const calls = ["a", "b"].map((at) => ({ id: at, name: "look", input: { at } }));
  const told = [
    { type: "turn.started", turn: 1, model: "m" },
    { type: "turn.ended", turn: 1, text: "So far.", calls, usage: {}, cost: { usd: 0, unpriced: 0 } },
    { type: "tool.ended", call: "a", tool: "look", text: "saw it before", error: false, ms: 0, status: "ok" },
  ].map((fact, seq) => ({ seq, ...fact }) as unknown as KeptEvent);
  const seen: string[] = [];
  const resumed = (turns: readonly Script[]) =>
    play(turns, {}, { past: () => Promise.resolve(told), seen: (at) => seen.push(at) });
  const { outcome, model } = await resumed(["Done."]);
  expect(outcome).toMatchObject({ status: "ok", output: "Done." });
  expect(seen).toEqual(["b"]);
  expect(model.requests.map(({ messages }) => messages.at(-1))).toMatchObject([
    { role: "tool", results: [{ text: "saw it before" }, { text: "saw b" }] },
  ]);
  const fault: Script = { error: { code: "MODEL_REFUSED", message: "no", retryable: false } };
  expect((await resumed([fault])).outcome).toMatchObject({ status: "failed", output: "So far." });
});

test.each([
  [
    { limit: "MAX_TURNS", reached: { kind: "turns", value: 3, run: true } },
    "MAX_TURNS",
    { kind: "turns", value: 3, run: true },
  ],
  [{ limit: "TIMEOUT", reached: { kind: "time", value: 5 } }, "TIMEOUT", { kind: "time", value: 1_800_000 }],
  [{ limit: "MAX_TURNS" }, "MAX_TURNS", { kind: "turns", value: 100 }],
  [{ limit: "BUDGET" }, "BUDGET", { kind: "tokens", value: 0, run: true }],
  [{ limit: "STUCK" }, "STUCK", undefined],
  [{ limit: "DENIED" }, "DENIED", undefined],
] as const)(
  "a resumed task whose grace turn is already recorded takes no further turn: %j",
  async (reached, code, limit) => {
    const past = (text: string, calls: readonly unknown[]) => {
      const told = [
        { type: "limit.reached", enforced: true, text: "", ...reached },
        { type: "turn.started", turn: 1, model: "m" },
        { type: "turn.ended", turn: 1, text, calls, usage: {}, cost: { usd: 0, unpriced: 0 } },
      ];
      return () => Promise.resolve(told.map((fact, seq) => ({ seq, ...fact }) as unknown as KeptEvent));
    };
    const whole = await play([], {}, { past: past("Half of it.", []) });
    expect(whole.outcome).toMatchObject({ status: "ok", output: "Half of it." });
    expect(whole.outcome.limit).toEqual(limit);
    const failing = await play([], {}, { past: past("So far.", [{ id: "1", name: "look", input: { at: "x" } }]) });
    expect(failing.outcome).toMatchObject({
      status: "failed",
      fault: { code, retryable: code === "TIMEOUT" },
      output: "So far.",
    });
    expect([...whole.model.requests, ...failing.model.requests]).toEqual([]);
  },
);
