import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf, type WorldParts } from "../../../test/support/task-world.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { ToolAnswer } from "../../core/model/model.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { defineTool } from "../../core/task/tool.ts";
import { type Script, type ScriptedModel, scripted } from "../../models/scripted/scripted.ts";
import { Conversation } from "./conversation.ts";
import type { TurnReply } from "./tool-calls.ts";

const signal = new AbortController().signal;
const look = (...ats: readonly string[]): Script => ({ calls: ats.map((at) => ({ name: "look", input: { at } })) });
const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

type Opened = Readonly<{ talk: Conversation; model: ScriptedModel; facts: Fact[]; ran: string[] }>;

/** A conversation of the agent `worker`, whose model plays these turns and whose tool records what it looked at. */
async function open(
  turns: readonly Script[],
  agent: WorldParts["agent"] = {},
  more: Partial<PerformContext> = {},
): Promise<Opened> {
  const model = scripted(...turns);
  const ran: string[] = [];
  const tool = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.string() }),
    effect: "read",
    run: ({ at }) => {
      ran.push(at);
      return `saw ${at}`;
    },
  });
  const { context, facts } = contextOf(more);
  const assignment = await assignmentOf({ tools: [tool], models: { m: model }, agent });
  return { talk: new Conversation(assignment, context, await context.past()), model, facts, ran };
}

/** Takes one turn and answers its tool calls. */
async function take({ talk }: Opened, options: { last?: boolean } = {}): Promise<TurnReply> {
  const turn = await talk.next(signal, options);
  if (!("calls" in turn)) throw new Error(`no turn: ${JSON.stringify(turn)}`);
  return talk.answer(turn, signal);
}

/** The results of tool calls that the model read in its last request. */
const read = ({ model }: Opened): readonly ToolAnswer[] =>
  (model.requests.at(-1)?.messages ?? []).flatMap((message) => (message.role === "tool" ? message.results : []));

test("each request contains the whole conversation, and costs add up", async () => {
  const usage = { input: 10, output: 5 };
  const opened = await open([
    { text: "Looking.", calls: [{ id: "c1", name: "look", input: { at: "a" } }], usage, cost: 0.25 },
    { text: "Done.", usage, cost: 0.5 },
  ]);
  expect(await take(opened)).toEqual({ is: "more" });
  expect(await take(opened)).toEqual({ is: "over", finish: { output: "Done." } });
  expect(opened.model.requests[1]?.messages).toEqual([
    { role: "user", text: "Do it." },
    { role: "assistant", text: "Looking.", calls: [{ id: "c1", name: "look", input: { at: "a" } }] },
    { role: "tool", results: [{ id: "c1", name: "look", text: "saw a", error: false }] },
  ]);
  expect(opened.talk.turns()).toBe(2);
  expect(opened.talk.spent()).toMatchObject({
    usage: { input: 20, output: 10, turns: 2 },
    cost: { usd: 0.75 },
    model: "m",
    tools: { look: 1 },
  });
});

test("the last turn forces the finish tool, and calls of other tools are refused", async () => {
  const opened = await open([look("a"), ""], { output });
  expect(await take(opened, { last: true })).toEqual({ is: "more" });
  expect(opened.model.requests[0]?.toolChoice).toEqual({ tool: "complete_task" });
  expect(opened.ran).toEqual([]);
  expect(opened.facts.at(-1)).toMatchObject({
    type: "tool.denied",
    tool: "look",
    rule: "only returning the result is possible in the last turn",
  });
});

test("a finish call is accepted after the other calls of its turn ran; a second finish call is ignored, and an invalid one gets the reason", async () => {
  const finish = (result: unknown) => ({ name: "complete_task", input: { result } });
  const both: Script = {
    calls: [finish({ n: 1 }), { name: "look", input: { at: "a" } }, finish({ n: 2 })],
  };
  const opened = await open([both, { calls: [finish({ n: "x" })] }, ""], { output });
  expect(await take(opened)).toMatchObject({ is: "over", finish: { data: { n: 1 } } });
  expect(opened.ran).toEqual(["a"]);
  expect(await take(opened)).toMatchObject({ is: "over", finish: { problem: "n must be number", empty: false } });
  await opened.talk.next(signal);
  expect(read(opened).map(({ text, error }) => [text, error])).toEqual([
    ["Received.", false],
    ["saw a", false],
    ["Task already marked complete in this turn. Ignoring duplicate call.", true],
    ['Output validation failed: n must be number (got "x"). Correct it and call complete_task again.', true],
  ]);
});

describe("the budget of the run", () => {
  test("a tool call that exceeds it gets an answer and is not run", async () => {
    const opened = await open([look("a", "b"), "done"], {}, { budget: createBudget({ maxToolCalls: 1 }) });
    await take(opened);
    await take(opened);
    expect(opened.ran).toEqual(["a"]);
    expect(read(opened).map(({ text }) => text)).toEqual([
      "saw a",
      "Not carried out: the run is limited to 1 tool calls in all.",
    ]);
  });

  test("a turn that exceeds it never reaches the model, and the grace turn is not counted", async () => {
    const opened = await open(["one", "two"], {}, { budget: createBudget({ maxTurns: 1 }) });
    await take(opened);
    const refused = await opened.talk.next(signal);
    expect(refused).toMatchObject({ limit: { kind: "turns", value: 1, run: true } });
    expect(opened.model.requests).toHaveLength(1);
    expect(await take(opened, { last: true })).toEqual({ is: "over", finish: { output: "two" } });
  });
});

test("a budget that is reduced after a turn has ended does not stop the next turn", async () => {
  const { reserve, ...budget } = createBudget({ maxTokens: 1_000_000 });
  const revokes: (() => void)[] = [];
  const late: typeof reserve = (wanted, revoke, stop) => {
    revokes.push(revoke);
    return reserve(wanted, revoke, stop);
  };
  const turns: readonly Script[] = [
    look("a"),
    () => {
      revokes[0]!();
      return "done";
    },
  ];
  const opened = await open(turns, {}, { budget: { ...budget, reserve: late } });
  expect(await take(opened)).toEqual({ is: "more" });
  expect(await take(opened)).toEqual({ is: "over", finish: { output: "done" } });
});

test("an agent that repeats a call with the same result is warned the third time and stopped the fifth time", async () => {
  const opened = await open([look("a"), look("a"), look("a"), look("a"), look("a"), ""]);
  const replies: string[] = [];
  for (let n = 0; n < 5; n += 1) replies.push((await take(opened)).is);
  expect(replies).toEqual(["more", "more", "more", "more", "idle"]);
  await opened.talk.next(signal);
  const texts = read(opened).map(({ text }) => text);
  expect(texts.slice(0, 2)).toEqual(["saw a", "saw a"]);
  expect(texts[2]).toMatch(/^saw a\n./);
});

test("an agent whose calls were all refused in five turns in a row is stopped, however many calls they were", async () => {
  const calls = (count: number): Script => ({
    calls: Array.from({ length: count }, (_, n) => ({ name: "look", input: { at: `${n}` } })),
  });
  const opened = await open([calls(30), calls(1), calls(1), calls(1), calls(1)], { tools: [] });
  for (let n = 0; n < 4; n += 1) expect((await take(opened)).is).toBe("more");
  expect(await take(opened)).toEqual({
    is: "idle",
    code: "DENIED",
    text: "All calls of 5 turns in a row were refused.",
  });
  expect(opened.ran).toEqual([]);
});

test("an interrupted conversation continues from the record, and no call is repeated", async () => {
  const before = await open([look("a"), "done"]);
  await take(before);
  const past = before.facts.map(
    (fact, n): KeptEvent => ({ seq: n + 1, run: "run_test", path: "worker", at: 0, ...fact }),
  );
  await take(before);

  const after = await open(["done"], {}, { past: async () => past });
  const { unfinished } = after.talk;
  if (!unfinished) throw new Error("the calls of the last turn were not found");
  await after.talk.answer(unfinished.turn, signal, unfinished.known);
  expect(await take(after)).toEqual({ is: "over", finish: { output: "done" } });
  expect(after.ran).toEqual([]);
  expect(after.model.requests[0]?.messages).toEqual(before.model.requests[1]?.messages);
  expect(after.talk.spent()).toEqual(before.talk.spent());
});
