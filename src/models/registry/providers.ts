import type { Model } from "../../core/model/model.ts";
import type { Endpoint, Quirks } from "../wires/endpoint.ts";
import type { ThinkingStyle } from "../wires/thinking-options.ts";
import type { WireParts } from "../wires/wire.ts";

/** The wire formats, imported on first use. */
export const wires = {
  "openai-chat": () => import("../wires/openai-chat.ts"),
  "openai-responses": () => import("../ai-sdk/openai-responses.ts"),
  anthropic: () => import("../wires/anthropic.ts"),
  google: () => import("../ai-sdk/google.ts"),
} as const satisfies Record<
  string,
  () => Promise<{ open(endpoint: Endpoint, means: WireParts): Model | Promise<Model> }>
>;

/** The built-in settings of a provider. */
export type ProviderRow = Readonly<{
  wire: keyof typeof wires;
  baseURL: string;
  /** Environment variables that may set another address; the first that is set is used. */
  baseURLFrom: readonly string[];
  /** Environment variables that may contain the key; the first that is set is used. */
  keys: readonly string[];
  local?: true;
  thinking: ThinkingStyle;
  quirks?: Quirks;
  /** True: the provider caches the beginnings of requests automatically. */
  caches?: true;
  /** Completes an address that the user gave incompletely. */
  address?(given: string): string;
}>;

/** The usual protocol of OpenAI-compatible providers. */
export const compatible = { wire: "openai-chat", thinking: "effort" } as const;

/** Every provider that is known by name. */
export const providers: Readonly<Record<string, ProviderRow>> = {
  anthropic: {
    wire: "anthropic",
    baseURL: "https://api.anthropic.com",
    baseURLFrom: ["ANTHROPIC_BASE_URL"],
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    thinking: "anthropic",
    caches: true,
    address: (given) => (/\/v\d+$/.test(given) ? given : `${given}/v1`),
  },
  openai: {
    wire: "openai-responses",
    baseURL: "https://api.openai.com/v1",
    baseURLFrom: ["OPENAI_BASE_URL"],
    keys: ["OPENAI_API_KEY"],
    thinking: "library-openai",
    caches: true,
  },
  "openai-chat": {
    wire: "openai-chat",
    baseURL: "https://api.openai.com/v1",
    baseURLFrom: ["OPENAI_BASE_URL"],
    keys: ["OPENAI_API_KEY"],
    thinking: "openai",
    quirks: { maxTokens: "max_completion_tokens", cacheKey: true },
    caches: true,
  },
  google: {
    wire: "google",
    baseURL: "https://generativelanguage.googleapis.com/v1beta",
    baseURLFrom: ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    thinking: "library-google",
    caches: true,
  },
  openrouter: {
    wire: "openai-chat",
    baseURL: "https://openrouter.ai/api/v1",
    baseURLFrom: ["OPENROUTER_BASE_URL"],
    keys: ["OPENROUTER_API_KEY"],
    thinking: "openrouter",
    quirks: { returnThinking: "reasoning_details" },
  },
  groq: {
    ...compatible,
    baseURL: "https://api.groq.com/openai/v1",
    baseURLFrom: ["GROQ_BASE_URL"],
    keys: ["GROQ_API_KEY"],
    quirks: { maxTokens: "max_completion_tokens" },
  },
  deepseek: {
    wire: "openai-chat",
    baseURL: "https://api.deepseek.com/v1",
    baseURLFrom: ["DEEPSEEK_BASE_URL"],
    keys: ["DEEPSEEK_API_KEY"],
    thinking: "deepseek",
    caches: true,
    quirks: { returnThinking: "reasoning_content" },
  },
  mistral: {
    wire: "openai-chat",
    baseURL: "https://api.mistral.ai/v1",
    baseURLFrom: ["MISTRAL_BASE_URL"],
    keys: ["MISTRAL_API_KEY"],
    thinking: "none",
    quirks: { anyTool: "any", usageUnasked: true },
  },
  xai: {
    wire: "openai-chat",
    baseURL: "https://api.x.ai/v1",
    baseURLFrom: ["XAI_BASE_URL"],
    keys: ["XAI_API_KEY"],
    thinking: "xai",
  },
  together: {
    ...compatible,
    baseURL: "https://api.together.xyz/v1",
    baseURLFrom: ["TOGETHER_BASE_URL"],
    keys: ["TOGETHER_API_KEY"],
  },
  ollama: {
    ...compatible,
    local: true,
    baseURL: "http://127.0.0.1:11434",
    baseURLFrom: ["OLLAMA_BASE_URL", "OLLAMA_HOST"],
    keys: ["OLLAMA_API_KEY"],
    address: ollamaAddress,
  },
  lmstudio: {
    ...compatible,
    local: true,
    baseURL: "http://127.0.0.1:1234/v1",
    baseURLFrom: ["LMSTUDIO_BASE_URL"],
    keys: ["LMSTUDIO_API_KEY"],
    quirks: { namedTool: "refused" },
  },
  vllm: {
    ...compatible,
    local: true,
    baseURL: "http://127.0.0.1:8000/v1",
    baseURLFrom: ["VLLM_BASE_URL"],
    keys: ["VLLM_API_KEY"],
  },
};

/**
 * The address of a server from `OLLAMA_HOST`, which is often only a host, or an address to listen on such as `0.0.0.0`.
 */
function ollamaAddress(given: string): string {
  const full = /^https?:\/\//.test(given) ? given : `http://${given}`;
  const [, scheme = "http://", rest = ""] = /^(https?:\/\/)(.*)$/.exec(full) ?? [];
  const [host = "", ...path] = rest.split("/");
  const named = host.startsWith("0.0.0.0") ? host.replace("0.0.0.0", "127.0.0.1") : host;
  const withPort = /:\d+$/.test(named) || scheme === "https://" ? named : `${named}:11434`;
  const tail = path.join("/");
  return `${scheme}${withPort}/${tail === "" ? "v1" : tail}`;
}

/** Every variable that can hold the key of a provider, or its address. */
export const providerKeys: readonly string[] = [
  ...new Set(Object.values(providers).flatMap(({ keys, baseURLFrom }) => [...keys, ...baseURLFrom])),
];
