import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf, type WorldParts } from "../../../test/support/task-world.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { defineTool } from "../../core/task/tool.ts";
import { type Script, type ScriptedModel, scripted } from "../../models/scripted/scripted.ts";
import { stopped } from "../async/cancel.ts";
import { loop } from "./loop.ts";

const look = (at: string, text = ""): Script => ({ text, calls: [{ name: "look", input: { at } }] });
const finish = (result: unknown): Script => ({ calls: [{ name: "complete_task", input: { result } }] });
const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

type Played = Readonly<{ outcome: Outcome; model: ScriptedModel; facts: readonly Fact[] }>;

/** Plays these turns of the model of `worker`, which has one tool, until there is an outcome. */
async function play(
  turns: readonly Script[],
  agent: WorldParts["agent"] = {},
  { seen, ...more }: Partial<PerformContext> & { seen?: (at: string) => void } = {},
): Promise<Played> {
  const model = scripted(...turns);
  const tool = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.string() }),
    effect: "read",
    run: ({ at }) => {
      seen?.(at);
      return `saw ${at}`;
    },
  });
  const { context, facts } = contextOf(more);
  const outcome = await loop(await assignmentOf({ tools: [tool], models: { m: model }, agent }), context);
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

  test("gives one last turn without tools, whose result is accepted", async () => {
    const { outcome, model, facts } = await play([look("a"), "Half of it."], agent);
    expect(outcome).toMatchObject({ status: "ok", output: "Half of it." });
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "user",
      text: expect.stringContaining("limit of this task (1 turn)"),
    });
    expect(facts).toContainEqual(
      expect.objectContaining({ type: "limit.reached", limit: "MAX_TURNS", enforced: true }),
    );
  });

  test("fails the task when that turn returns nothing; earlier text is kept", async () => {
    const { outcome, model } = await play([look("a", "So far so good."), look("b"), "too late"], agent);
    expect(outcome).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" }, output: "So far so good." });
    expect(model.requests).toHaveLength(2);
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
  test("is requested once more, with only the finish tool if it was not called", async () => {
    const { outcome, model } = await play(["I am done.", finish({ n: 1 })], { output });
    expect(outcome).toMatchObject({ status: "ok", data: { n: 1 } });
    expect(model.requests[1]).toMatchObject({ toolChoice: "required", tools: [{ name: "complete_task" }] });
  });

  test("fails the task the second time, with a code for the reason", async () => {
    const wrong = await play([finish({ n: "x" }), finish({ n: "y" }), finish({ n: 1 })], { output });
    expect(wrong.outcome).toMatchObject({ status: "failed", fault: { code: "INVALID_OUTPUT", retryable: true } });
    expect((await play(["", "", "late"])).outcome).toMatchObject({ status: "failed", fault: { code: "EMPTY" } });
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

test("a context that is too long is shortened once, and a model that still refuses fails the task", async () => {
  const full: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const mended = await play([full, "Done."]);
  expect(mended.outcome).toMatchObject({ status: "ok", output: "Done." });
  expect(mended.facts.filter(({ type }) => type === "context.compacted")).toHaveLength(1);
  expect((await play([full, full, "Done."])).outcome).toMatchObject({
    status: "failed",
    fault: { code: "MODEL_CONTEXT" },
  });
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
  test("before the first one: the task does not begin, and the limit and what helps are named", async () => {
    const tokens = await play(["never asked"], {}, { budget: createBudget({ maxTokens: 5 }) });
    expect(tokens.outcome).toMatchObject({
      status: "failed",
      fault: {
        message:
          "The first request of this task does not fit in what is left of the limit of 5 tokens for the whole run.",
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
      fault: { code: "BUDGET", message: "The price of m is unknown, so a limit in dollars cannot be kept." },
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

test("an agent whose result is all it said returns its texts, but not those around a result by tool or schema", async () => {
  const turns = [look("a", "First."), look("b"), "Last."];
  expect((await play(turns)).outcome).toMatchObject({ output: "Last." });
  expect((await play(turns, { summary: "all" })).outcome).toMatchObject({ output: "First.\n\nLast." });
  expect((await play(["Only."], { summary: "all" })).outcome).toMatchObject({ output: "Only." });
  const typed = await play([look("a", "First."), finish({ n: 1 })], { summary: "all", output });
  expect(typed.outcome).toMatchObject({ status: "ok", data: { n: 1 } });
  expect(JSON.stringify(typed.outcome)).not.toContain("First.");
});

test("a result that is rejected is kept with the failure", async () => {
  const { outcome } = await play([finish({ n: "x" }), finish({ n: "y" })], { output });
  expect(outcome).toMatchObject({ status: "failed", output: JSON.stringify({ n: "y" }, null, 2), data: { n: "y" } });
});

test("a task is told once that it is near its limit of turns, and its conversation is handed on", async () => {
  const remembered: unknown[] = [];
  const turns = Array.from({ length: 19 }, (_, at) => look(`${at}`));
  const { facts } = await play(
    [...turns, "Done."],
    { limits: { maxTurns: 20 } },
    { remember: (messages) => remembered.push(messages.length) },
  );
  expect(facts.filter((fact) => fact.type === "warning" && fact.code === "LIMIT_NEAR")).toHaveLength(1);
  expect(remembered).toHaveLength(1);
});
