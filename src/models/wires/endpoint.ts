import type { ThinkingStyle } from "./thinking-options.ts";

/** The user's price of a model, in dollars per million tokens. */
export type ModelPrice = Readonly<{ input: number; output: number; cacheRead?: number; cacheWrite?: number }>;

/** The address of a provider, and its differences from other providers with the same protocol. */
export type Endpoint = Readonly<{
  /** The provider's name in subcrew. */
  provider: string;
  baseURL: string;
  key?: string;
  /** The environment variable that the key came from, to name it in hints. */
  keyName?: string;
  /** Headers that are sent with each request. */
  headers: Readonly<Record<string, string>>;
  /** True: the provider runs on this machine: it needs no key, and its answers cost nothing. */
  local: boolean;
  thinking: ThinkingStyle;
  quirks: Quirks;
  /** The proxy for requests to the provider. */
  proxy?: string;
  /** The accepted certificate authorities; absent: the usual ones. */
  ca?: readonly string[];
  /** The user's prices for the provider's models, by model name. */
  prices?: Readonly<Record<string, ModelPrice>>;
  /** How long the provider may send nothing before the request is given up. */
  silenceMs?: number;
}>;

/** Differences between providers that implement OpenAI's chat API. */
export type Quirks = Readonly<{
  /** The parameter that limits the length of the answer. */
  maxTokens?: "max_tokens" | "max_completion_tokens";
  /** The value of tool_choice that forces a tool call. */
  anyTool?: "required" | "any";
  /** The provider refuses a tool_choice that names a tool. */
  namedTool?: "refused";
  /** True: usage is always sent, and requesting it is an error. */
  usageUnasked?: true;
  /** True: the provider accepts `prompt_cache_key`, which routes requests with the same key to the same cache. */
  cacheKey?: true;
  /** The field in which the model's thinking must be sent back. */
  returnThinking?: "reasoning_content" | "reasoning_details";
}>;

/** An address without the user name and password that it may contain. */
export function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
