/** Model tiers, independent of the provider. */
export const tierNames = ["fast", "balanced", "powerful"] as const;
export type Tier = (typeof tierNames)[number];

/** The models of each tier in order of preference; the first whose provider can be used is taken. */
export const tiers: Readonly<Record<Tier, readonly string[]>> = {
  fast: [
    "anthropic/claude-haiku-4-5",
    "openai/gpt-5.4-mini",
    "google/gemini-3.8-flash",
    "openrouter/anthropic/claude-haiku-4.5",
    "xai/grok-4-1-fast-reasoning",
    "deepseek/deepseek-v4-flash",
    "mistral/mistral-small-latest",
    "groq/openai/gpt-oss-20b",
    "together/openai/gpt-oss-20b",
  ],
  balanced: [
    "anthropic/claude-sonnet-5",
    "openai/gpt-6-sol",
    "google/gemini-3.8-flash",
    "openrouter/anthropic/claude-sonnet-5",
    "xai/grok-4.6",
    "deepseek/deepseek-v4-pro",
    "mistral/mistral-medium-latest",
    "groq/openai/gpt-oss-120b",
    "together/openai/gpt-oss-120b",
  ],
  powerful: [
    "anthropic/claude-opus-5-5",
    "openai/gpt-6-astra",
    "google/gemini-3.1-pro-preview",
    "openrouter/anthropic/claude-opus-5.5",
    "xai/grok-4.6",
    "deepseek/deepseek-v4-pro",
    "mistral/mistral-large-latest",
    "groq/openai/gpt-oss-120b",
    "together/openai/gpt-oss-120b",
  ],
};

const haiku = ["anthropic/claude-haiku-4-5", "openrouter/anthropic/claude-haiku-4.5"];
const sonnet = ["anthropic/claude-sonnet-5", "openrouter/anthropic/claude-sonnet-5"];
const opus = ["anthropic/claude-opus-5-5", "openrouter/anthropic/claude-opus-5.5"];
const flash = ["google/gemini-3.8-flash", "openrouter/google/gemini-3.8-flash"];

/** Short names of models that agent files use. A short name means a product line, or a role that stands for a tier. */
export const shortcuts: Readonly<Record<string, string | readonly string[]>> = {
  haiku,
  sonnet,
  opus,
  fable: ["anthropic/claude-fable-5-1"],
  flash,
  "flash-lite": ["google/gemini-3.5-flash-lite"],
  pro: ["google/gemini-3.1-pro-preview"],
  "gemini-flash": flash,
  "gemini-pro": ["google/gemini-3.1-pro-preview"],
  // names without a version, which are not model ids
  "claude-haiku": haiku,
  "claude-sonnet": sonnet,
  "claude-opus": opus,
  "claude-haiku-4": haiku,
  // names for the role of a model
  smol: "fast",
  "@smol": "fast",
  "pi/smol": "fast",
  "@commit": "fast",
  slow: "powerful",
  "@slow": "powerful",
  "pi/slow": "powerful",
  "@plan": "powerful",
  "@task": "inherit",
  "@default": "inherit",
  "pi/default": "inherit",
  // names for the difficulty of a task
  light: "fast",
  medium: "balanced",
  heavy: "powerful",
};

/** The provider of a bare model id, by its prefix. */
export const modelFamilies: readonly Readonly<{ begins: RegExp; provider: string }>[] = [
  { begins: /^claude-/, provider: "anthropic" },
  { begins: /^(gpt-|chatgpt-|codex-|o\d)/, provider: "openai" },
  { begins: /^gemini-/, provider: "google" },
  { begins: /^grok-/, provider: "xai" },
  { begins: /^deepseek-/, provider: "deepseek" },
  { begins: /^(mistral|magistral|ministral|codestral|devstral|pixtral)-/, provider: "mistral" },
];
