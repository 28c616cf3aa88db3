import { expect, test } from "vitest";
import { type BudgetLimits, createBudget } from "../../core/run/budget.ts";
import { budgetSpent } from "../../core/run/budget-spent.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { budgetThroughTakeovers, countLeftover } from "./budget-through-takeovers.ts";

const usage = { input: 60, output: 40, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 100, turns: 1 };
const started = (turn: number): Fact => ({ type: "turn.started", turn, model: "m", reserved: { input: 30 } });
const ended = (turn: number): Fact => ({
  type: "turn.ended",
  turn,
  text: "",
  calls: [],
  usage,
  cost: { usd: 0, unpriced: 0 },
});
const called: Fact = { type: "tool.started", call: "c", tool: "bash", input: {} } as unknown as Fact;

/** One task of a run with these limits: its recorded events, and the budget of the run. */
function run(limits: BudgetLimits) {
  const events: KeptEvent[] = [];
  const kept = (fact: Fact): void => void events.push({ ...fact, seq: events.length + 1, run: "r", path: "a", at: 0 });
  kept({ type: "node.started", kind: "task", attempt: 1 } as unknown as Fact);
  const budget = createBudget(limits);
  const context = { emit: kept, budget, signal: new AbortController().signal } as unknown as PerformContext;
  return { events, budget, context };
}

/** Takes a turn as a task does, and can stop at a point as if its process had died. */
async function turn(context: PerformContext, number: number, dies?: "granted" | "begun"): Promise<boolean> {
  if (await context.budget.count("maxTurns")) return false;
  const held = await context.budget.reserve({ tokens: 200, cut: { tokens: 30 } }, () => {}, context.signal);
  if ("refused" in held || dies === "granted") return false;
  context.emit(started(number));
  if (dies === "begun") return false;
  held.settle({ tokens: 100 });
  context.emit(ended(number));
  return true;
}

test("when a worker dies, only its recorded turns and tool calls are counted, and its unfinished turn is charged as an interrupted turn", async () => {
  const { events, budget, context: outside } = run({ maxTurns: 4, maxToolCalls: 1, maxTokens: 10_000 });
  const call = budgetThroughTakeovers(outside);
  const { context } = call;
  expect(await turn(context, 1)).toBe(true);
  await turn(context, 2, "granted");
  call.lose();
  await turn(context, 2, "begun");
  call.lose();
  expect(budget.spent().tokens).toBe(130);
  expect(await context.budget.count("maxToolCalls")).toBeUndefined();
  call.lose(); // the budget was granted, but the call was never recorded
  expect(await context.budget.count("maxToolCalls")).toBeUndefined();
  context.emit(called);
  expect(await context.budget.count("maxToolCalls")).toMatchObject({ refused: expect.any(String) });
  for (const number of [2, 3, 4]) expect(await turn(context, number)).toBe(true);
  expect(await turn(context, 5)).toBe(false);
  expect(budgetSpent(events)).toMatchObject({ maxTurns: 4, maxToolCalls: 1 });
  expect(await budget.room()).toBe(10_000 - budget.spent().tokens);
});

test("a coordinator that takes over a run counts the work that workers did meanwhile exactly as recorded", async () => {
  const { events, context } = run({});
  context.emit(started(1)); // all that the dead coordinator recorded
  const spent = budgetSpent(events);
  const budget = createBudget({ maxTurns: 2 }, spent);
  const next = { ...context, budget } as PerformContext;
  const past = [...events];
  for (const fact of [ended(1), called, started(2)]) {
    await countLeftover(fact, next, past);
    next.emit(fact);
  }
  const { maxTurns, tokens } = budgetSpent(events);
  // the recorded usage also contains the unfinished second turn
  expect([budget.spent().tokens + 30, maxTurns]).toEqual([tokens, 1]);
  expect(await budget.count("maxTurns")).toBeUndefined();
  expect(await budget.count("maxTurns")).toBeDefined();
});
