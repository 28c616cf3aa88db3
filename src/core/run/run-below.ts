import { z } from "zod";
import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../outcome/usage.ts";
import type { BudgetLimits, BudgetSpent } from "./budget.ts";
import type { Fact } from "./event.ts";

const amount = z.number().nonnegative();
const count = z.number().int().nonnegative();

/** The usage of a nested run, which a program of a task started; it counts for the run of that task. */
export const belowSpent = z.strictObject({
  /** The id of the nested run. */
  run: z.string(),
  usage: z.strictObject({
    input: amount,
    output: amount,
    cacheRead: amount,
    cacheWrite: amount,
    reasoning: amount,
    contextTokens: amount,
    turns: count,
    estimated: amount.optional(),
  }),
  cost: z.strictObject({ usd: amount, unpriced: count, estimated: amount.optional(), saved: z.number().optional() }),
  toolCalls: count,
  /** The number of agents that were started: the nested run itself, and its subagents. */
  spawns: count,
});
export type BelowSpent = Readonly<{ run: string; usage: Usage; cost: Cost; toolCalls: number; spawns: number }>;

/** Adds up what a nested run uses while this process works on it, to report it to the parent run. */
export function createBelowMeter(run: string): Readonly<{ see(path: string, fact: Fact): void; spent(): BelowSpent }> {
  let usage: Usage = noUsage();
  let cost: Cost = noCost();
  let [toolCalls, spawns] = [0, 0];
  return {
    see: (path, fact) => {
      if (fact.type === "turn.ended" || fact.type === "turn.restarted" || fact.type === "below.ended") {
        usage = addUsage(usage, fact.usage);
        cost = addCost(cost, fact.cost);
      }
      if (fact.type === "tool.started") toolCalls += 1;
      if (fact.type === "node.started" && fact.kind === "task" && path.includes("/")) spawns += 1;
      if (fact.type !== "below.ended") return;
      toolCalls += fact.toolCalls;
      spawns += fact.spawns;
    },
    spent: () => ({ run, usage: { ...usage, contextTokens: 0 }, cost, toolCalls, spawns: spawns + 1 }),
  };
}

/** The limits of a nested run: its own limits, and what is left of the limits of its parent run. */
export function limitsBelow(own: BudgetLimits, above: BudgetLimits, spent: BudgetSpent): BudgetLimits {
  const left = (name: keyof BudgetLimits, used: number): Partial<BudgetLimits> => {
    const limit = above[name];
    if (limit === undefined) return {};
    return { [name]: Math.max(0, Math.min(limit - used, own[name] ?? Number.POSITIVE_INFINITY)) };
  };
  return {
    ...own,
    ...left("maxUsd", spent.usd),
    ...left("maxTokens", spent.tokens),
    ...left("maxTurns", spent.maxTurns),
    ...left("maxToolCalls", spent.maxToolCalls),
    ...left("maxSpawns", spent.maxSpawns),
  };
}
