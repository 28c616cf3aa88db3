import { isRecord } from "../core/text/json.ts";
import type { ProviderUsage } from "./provider-turn.ts";
import type { WireName } from "./wire.ts";

/** The minimum length for which providers cache the beginning of a request. */
const LEAST_TOKENS = 1_024;
/** OpenAI caches the beginnings of requests in multiples of this length. */
const STEP_TOKENS = 128;

/**
 * The tokens that a request reads from the cache and writes to it; other requests can read the written tokens once the
 * answer begins.
 */
export type CachedRequest = Readonly<{ usage: Omit<ProviderUsage, "output">; arrived(): void }>;

/**
 * A simulated provider cache for the beginnings of requests: marked beginnings at Anthropic, the longest common
 * beginning at other providers.
 */
export type PrefixCache = Readonly<{
  request(wire: WireName, model: string, body: Readonly<Record<string, unknown>>): CachedRequest;
}>;

export function createPrefixCache(): PrefixCache {
  const marked = new Set<string>();
  const beginnings = new Map<string, string[]>();
  return {
    request: (wire, model, body) =>
      wire === "anthropic" ? markedRequest(marked, model, body) : plainRequest(beginnings, model, body),
  };
}

function markedRequest(cache: Set<string>, model: string, body: Readonly<Record<string, unknown>>): CachedRequest {
  let text = model;
  const marks: string[] = [];
  for (const block of blocksOf(body)) {
    const { cache_control: mark, ...rest } = block;
    text += JSON.stringify(rest);
    if (mark !== undefined) marks.push(text);
  }
  const worth = marks.filter((prefix) => tokensOf(prefix) >= LEAST_TOKENS);
  const read = tokensOf(worth.findLast((prefix) => cache.has(prefix)) ?? "");
  const write = Math.max(0, tokensOf(worth.at(-1) ?? "") - read);
  return {
    usage: { input: tokensOf(text) - read - write, cacheRead: read, cacheWrite: write },
    arrived: () => {
      for (const prefix of worth) cache.add(prefix);
    },
  };
}

function plainRequest(
  cache: Map<string, string[]>,
  model: string,
  { prompt_cache_key: key, ...body }: Readonly<Record<string, unknown>>,
): CachedRequest {
  const text = JSON.stringify([body["tools"], body["system"], body["instructions"], body["messages"], body["input"]]);
  const place = `${model}\n${typeof key === "string" ? key : text.slice(0, 4_000)}`;
  const known = cache.get(place) ?? [];
  const common = Math.max(0, ...known.map((other) => commonLength(text, other)));
  const steps = Math.floor(tokensOf(text.slice(0, common)) / STEP_TOKENS) * STEP_TOKENS;
  const read = steps >= LEAST_TOKENS ? steps : 0;
  return {
    usage: { input: tokensOf(text) - read, cacheRead: read },
    arrived: () => void cache.set(place, [...known, text]),
  };
}

function blocksOf({ tools, system, messages }: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
  const said = list(messages).flatMap(({ role, content }) => list(content).map((block) => ({ role, ...block })));
  return [...list(tools), ...list(system), ...said];
}

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4);
