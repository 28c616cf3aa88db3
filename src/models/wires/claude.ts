/** The features of a model that decide how a request is written. */
export type ClaudeModel = Readonly<{
  /** Maximum length of an answer, in tokens. */
  maxOutput: number;
  /** How the model thinks: with a token budget, adaptively, always, or never. */
  thinking: "budget" | "adaptive" | "always" | "none";
  /** The highest effort that the model accepts. */
  most: "high" | "xhigh" | "max";
  /** Whether the model accepts temperature and other sampling options. */
  sampling: boolean;
  /** True: the model can be forced to call a tool. */
  forced: boolean;
}>;

const plain = { most: "high", sampling: true, forced: true } as const;
const modern = { maxOutput: 128_000, most: "xhigh", sampling: false, forced: true } as const;

/** The features by model: the expression is matched against the provider's model id; the first matching row applies. */
const rows: readonly (readonly [RegExp, ClaudeModel])[] = [
  [/claude-(?:opus-5-5|sonnet-5-5|fable-5)/, { ...modern, thinking: "always", forced: false }],
  [/claude-(?:opus|sonnet)-4-6/, { ...modern, thinking: "adaptive", most: "max", sampling: true }],
  [/claude-opus-4-[78]|claude-(?:opus|sonnet|haiku)-[5-9]/, { ...modern, thinking: "adaptive" }],
  [/claude-(?:opus|sonnet|haiku)-4-5|claude-sonnet-4|claude-3-7/, { ...plain, maxOutput: 64_000, thinking: "budget" }],
  [/claude-opus-4/, { ...plain, maxOutput: 32_000, thinking: "budget" }],
  [/claude-3-5/, { ...plain, maxOutput: 8_192, thinking: "none" }],
  [/claude-(?:3|2|v|instant)/, { ...plain, maxOutput: 4_096, thinking: "none" }],
  [/claude-/, { ...modern, thinking: "adaptive" }],
];

/** The features of models of other vendors behind the same API. */
const other: ClaudeModel = { ...plain, maxOutput: 32_000, thinking: "budget" };

/** The features of a model that is called through Anthropic's messages API. */
export function claudeFeatures(id: string): ClaudeModel {
  return rows.find(([pattern]) => pattern.test(id))?.[1] ?? other;
}
