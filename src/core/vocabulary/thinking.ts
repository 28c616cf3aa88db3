import { z } from "zod";

const levels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

/** How much a model may think: a named level, or a budget in tokens. */
export const thinking = z.union([z.enum(levels), z.number().int().nonnegative()]);
export type Thinking = z.infer<typeof thinking>;
export type ThinkingLevel = (typeof levels)[number];

/** The number of thinking tokens for each level. */
const budgets: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
};

/** The number of tokens that a model may use for thinking. */
export function thinkingBudget(wish: Thinking): number {
  return typeof wish === "number" ? wish : budgets[wish];
}

/** The named level for a request; a number of tokens counts as the highest level that it reaches. */
export function thinkingLevel(wish: Thinking): ThinkingLevel {
  if (typeof wish === "string") return wish;
  if (wish === 0) return "off";
  return levels.findLast((level) => level !== "off" && budgets[level] <= wish) ?? "minimal";
}
