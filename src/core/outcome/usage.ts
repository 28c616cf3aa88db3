import { defined } from "../text/defined.ts";
import type { Cost, Usage } from "./outcome-schema.ts";

export type { Cost, Usage };

/** Usage of zero. */
export function noUsage(): Usage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 0, turns: 0 };
}

/**
 * A number that a remote program reported. A negative or invalid number becomes zero; otherwise it would give money
 * back to a budget.
 */
export const nonNegative = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0);

/** Usage that a remote program reported, with invalid numbers as zero. */
export function nonNegativeUsage(usage: Partial<Usage>): Partial<Usage> {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => [name, Math.min(nonNegative(value), Number.MAX_SAFE_INTEGER)]),
  );
}

/** The sum of two usages. The context size is that of the later usage, if it has any. */
export function addUsage(a: Usage, b: Partial<Usage>): Usage {
  return {
    input: a.input + (b.input ?? 0),
    output: a.output + (b.output ?? 0),
    cacheRead: a.cacheRead + (b.cacheRead ?? 0),
    cacheWrite: a.cacheWrite + (b.cacheWrite ?? 0),
    reasoning: a.reasoning + (b.reasoning ?? 0),
    contextTokens: b.contextTokens || a.contextTokens,
    turns: a.turns + (b.turns ?? 0),
    ...estimatedSum(a, b),
  };
}

function estimatedSum(a: { estimated?: number }, b: { estimated?: number }): { estimated?: number } {
  if (a.estimated === undefined && b.estimated === undefined) return {};
  return { estimated: (a.estimated ?? 0) + (b.estimated ?? 0) };
}

/** Cost of zero. */
export function noCost(): Cost {
  return { usd: 0, unpriced: 0 };
}

/** The sum of two costs. Known and unknown parts are added separately. */
export function addCost(a: Cost, b: Cost): Cost {
  const saved = a.saved === undefined && b.saved === undefined ? undefined : (a.saved ?? 0) + (b.saved ?? 0);
  return { usd: a.usd + b.usd, unpriced: a.unpriced + b.unpriced, ...defined({ saved }), ...estimatedSum(a, b) };
}

/** A token count in at most five characters: `999`, `1.5k`, `50k`, `1.0M`. */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 10_000) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** A number of tokens with its noun: `1 token`, `48k tokens`. */
export function tokensText(count: number): string {
  return `${formatTokens(count)} token${count === 1 ? "" : "s"}`;
}

/** The cost in dollars, with a note if a part is unknown; `free` if all of it is known and zero. */
export function formatCost({ usd, unpriced, estimated = 0 }: Cost): string {
  if (usd === 0 && unpriced === 0 && estimated === 0) return "free";
  const known = usd > 0 ? [usd < 0.000_05 ? "under $0.0001" : `$${usd.toFixed(4)}`] : [];
  const guessed = estimated > 0 ? [`about $${estimated.toFixed(4)} for turns that were cut off`] : [];
  return [...known, ...guessed, ...(unpriced > 0 ? ["unknown price"] : [])].join(" + ");
}

/** Formats what a task used in one line, as in `2 turns ↑1.0k ↓5.0k R500 W100 $0.0150 ctx:10k`; zeros are left out. */
export function formatUsage(usage: Usage, cost: Cost = noCost(), model?: string): string {
  const tokens = (mark: string, count: number): string => (count > 0 ? `${mark}${formatTokens(count)}` : "");
  return [
    usage.turns > 0 ? `${usage.turns} turn${usage.turns === 1 ? "" : "s"}` : "",
    tokens("↑", usage.input),
    tokens("↓", usage.output),
    tokens("R", usage.cacheRead),
    tokens("W", usage.cacheWrite),
    cost.usd > 0 || cost.unpriced > 0 ? formatCost(cost) : "",
    tokens("ctx:", usage.contextTokens),
    model ?? "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}
