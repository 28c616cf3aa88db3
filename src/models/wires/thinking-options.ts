import { type Thinking, type ThinkingLevel, thinkingBudget, thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { claudeFeatures } from "./claude.ts";

/** How a provider's API expresses the thinking level. */
export type ThinkingStyle = keyof typeof thinkingOptions;

/**
 * One row per API: thinking level and model id become fields of the request, or options of the AI SDK where that is
 * used. Nothing is sent for a model without thinking.
 */
export const thinkingOptions = {
  /** `thinking` and `output_config` of the messages API. */
  anthropic: (wish, id) => anthropic(wish, id),
  /** `reasoning_effort` with the values of OpenAI. */
  openai: (wish, id) => named("reasoning_effort", openaiEffort(thinkingLevel(wish), id)),
  /** `reasoning_effort` with the values of most OpenAI-compatible providers. */
  effort: (wish) => ({ reasoning_effort: plainEffort[thinkingLevel(wish)] }),
  xai: (wish, id) => (/grok-3-mini|grok-4\.\d/.test(id) ? { reasoning_effort: plainEffort[thinkingLevel(wish)] } : {}),
  openrouter: (wish) =>
    typeof wish === "number"
      ? { reasoning: { max_tokens: wish } }
      : { reasoning: { effort: wish === "off" ? "none" : wish } },
  deepseek: (wish) => ({ thinking: { type: thinkingLevel(wish) === "off" ? "disabled" : "enabled" } }),
  /** Options of the AI SDK for OpenAI's Responses API. */
  "library-openai": (wish, id) => {
    const effort = openaiEffort(thinkingLevel(wish), id);
    if (effort === undefined) return {};
    return { reasoningEffort: effort, ...(effort !== "none" && { reasoningSummary: "auto" }) };
  },
  /** Options of the AI SDK for Google. */
  "library-google": (wish, id) => named("thinkingConfig", google(wish, id)),
  /** Thinking options of the AI SDK for Anthropic models given by the library user. */
  "library-anthropic": (wish, id) => {
    const { thinking, output_config } = anthropic(wish, id);
    const { budget_tokens, ...rest } = thinking ?? {};
    const budget = budget_tokens === undefined ? {} : { budgetTokens: budget_tokens };
    return {
      ...(thinking && { thinking: { ...rest, ...budget } }),
      ...(output_config && { effort: output_config.effort }),
    };
  },
  none: () => ({}),
} as const satisfies Record<string, (wish: Thinking, id: string) => object>;

/**
 * True for a model that cannot be forced to call a tool, because it thinks: Claude when thinking is requested, DeepSeek
 * unless thinking is switched off, and models that always think.
 */
export function forbidsForcing(id: string, wish: Thinking | undefined): boolean {
  const level = wish === undefined ? undefined : thinkingLevel(wish);
  if (/claude/.test(id)) {
    const { forced, thinking } = claudeFeatures(id);
    return !forced || (thinking !== "none" && level !== undefined && level !== "off");
  }
  return /deepseek/.test(id) && (level === undefined ? !/deepseek-(?:chat|v[123])/.test(id) : level !== "off");
}

const plainEffort: Readonly<Record<ThinkingLevel, string>> = {
  off: "none",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
};

const named = (name: string, value: unknown): Record<string, unknown> => (value === undefined ? {} : { [name]: value });

type AnthropicThinking = Readonly<{
  thinking?: Readonly<{ type: string; budget_tokens?: number; display?: string }>;
  output_config?: Readonly<{ effort: string }>;
}>;

/** The minimum thinking budget that a request may set. */
const LEAST_BUDGET = 1_024;

function anthropic(wish: Thinking, id: string): AnthropicThinking {
  const { thinking, most } = claudeFeatures(id);
  const level = thinkingLevel(wish);
  switch (thinking) {
    case "none":
      return {};
    case "budget":
      if (level === "off") return {};
      return { thinking: { type: "enabled", budget_tokens: Math.max(LEAST_BUDGET, thinkingBudget(wish)) } };
    case "adaptive":
      if (level === "off") return { thinking: { type: "disabled" } };
      return {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: effortOf(level, most) },
      };
    case "always":
      if (level === "off") return { output_config: { effort: "low" } };
      return {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: effortOf(level, most) },
      };
  }
}

const effortOf = (level: ThinkingLevel, most: string): string =>
  level === "xhigh" ? most : level === "minimal" || level === "off" ? "low" : level;

/**
 * The reasoning effort to send for a thinking level, as far as the model version supports it; `undefined` for models
 * without reasoning.
 */
function openaiEffort(level: ThinkingLevel, id: string): string | undefined {
  const [, major, minor = "0", variant = ""] = /(?:^|\/)gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(id) ?? [];
  if (/(?:^|\/)o\d/.test(id))
    return level === "off" || level === "minimal" ? "low" : level === "xhigh" ? "high" : level;
  if (/gpt-oss/.test(id)) return level === "off" ? "low" : plainEffort[level];
  if (major === undefined || Number(major) < 5 || variant.startsWith("chat")) return undefined;
  const version = Number(major) * 100 + Number(minor);
  const canBeOff = version >= 501 && (version < 600 || /^(sol|luna|terra)/.test(variant));
  if (level === "off") return canBeOff ? "none" : version === 500 ? "minimal" : "low";
  if (level === "minimal") return version === 500 ? "minimal" : "low";
  if (level === "xhigh") return version >= 502 || variant.includes("codex-max") ? "xhigh" : "high";
  return level;
}

function google(wish: Thinking, id: string): object | undefined {
  const level = thinkingLevel(wish);
  const shown = level === "off" ? {} : { includeThoughts: true };
  if (/gemini-[3-9]/.test(id)) {
    const least = id.includes("pro") ? "low" : "minimal";
    const named = { off: least, minimal: least, low: "low", medium: "medium", high: "high", xhigh: "high" }[level];
    return { thinkingLevel: named, ...shown };
  }
  if (!id.includes("gemini-2.5")) return undefined;
  const least = id.includes("pro") ? 128 : 0;
  return { thinkingBudget: Math.max(least, thinkingBudget(wish)), ...shown };
}
