import { estimateTokens, messageChars } from "./compact.ts";
import type { ModelRequest, TurnUsage } from "./model.ts";

/** Limits on model requests that several processes share. */
export type RequestQuota = Readonly<{
  /**
   * Waits until the request may be sent. If the request is delayed, `waits` is called with the reason. Resolves to
   * `undefined` if the signal aborts first.
   */
  enter(
    request: QuotaRequest,
    options: Readonly<{ signal: AbortSignal; waits(why: string): void }>,
  ): Promise<QuotaEntry | undefined>;
}>;

/** A request that needs quota: its provider, its model, and about how many tokens it takes. */
export type QuotaRequest = Readonly<{ provider: string; model: string; tokens: number }>;

/** A model request that the limits allowed. */
export type QuotaEntry = Readonly<{
  /** Releases the quota of a request that has ended; `tokens`: how many it really used, if known. */
  leave(tokens?: number): Promise<void>;
}>;

/** The limits of one name: `*` for all requests, a provider, or `provider/model`. */
export type QuotaLimits = Readonly<{
  /** The maximum number of requests at the same time. */
  concurrency?: number;
  /** The maximum number of requests and of tokens within any 60 seconds. */
  requests?: number;
  tokens?: number;
}>;

/** The names whose limits apply to a request, the most general name first. */
export const quotaNames = ({ provider, model }: Pick<QuotaRequest, "provider" | "model">): readonly string[] => [
  "*",
  provider,
  `${provider}/${model}`,
];

/** The number of tokens assumed for an answer whose length nothing limits. */
const USUAL_ANSWER = 1_000;

/** About how many tokens a request will use, in and out. */
export function expectedTokens({ system, messages, tools, maxOutputTokens }: ModelRequest): number {
  const chars = messages.reduce(
    (sum, message) => sum + messageChars(message),
    system.length + (tools.length === 0 ? 0 : JSON.stringify(tools).length),
  );
  return estimateTokens(chars) + Math.min(maxOutputTokens ?? USUAL_ANSWER, USUAL_ANSWER);
}

/** The tokens that a turn used, as limits count them. */
export const usedTokens = ({ input, output, cacheRead = 0, cacheWrite = 0 }: TurnUsage): number =>
  input + output + cacheRead + cacheWrite;
