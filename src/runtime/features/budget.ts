import { createBudget } from "../../core/run/budget.ts";
import type { Feature } from "./feature.ts";

export const budgetFeature: Feature = {
  name: "budget",
  does: "enforces the limits of the run on dollars, tokens, turns, tool calls and subagents",
  open: ({ parameters, log }) => {
    const { ms: _ms, ...used } = log.spent;
    return { scope: () => ({ budget: createBudget(parameters.budget ?? {}, used) }) };
  },
};
