import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf, type WorldParts } from "../../../test/support/task-world.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
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
