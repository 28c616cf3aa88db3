import type { TurnUsage } from "../../core/model/model.ts";
import type { Endpoint } from "./endpoint.ts";

/** The price of a turn in dollars; `undefined` when unknown. */
export type PriceOf = (usage: TurnUsage) => number | undefined;

type PricedEndpoint = Pick<Endpoint, "provider" | "local" | "prices">;

/** The catalogue of model prices, loaded on first use. */
export type Prices = Readonly<{
  of(endpoint: PricedEndpoint, id: string): Promise<PriceOf>;
  /** Synchronous variant of `of`; `undefined` until the catalogue is loaded. */
  known(endpoint: PricedEndpoint, id: string): PriceOf | undefined;
  load(): Promise<void>;
}>;

/** The names of subcrew's providers in the catalogue; a provider without a row has no known prices. */
const names: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  "openai-chat": "openai",
  google: "google",
  openrouter: "openrouter",
  groq: "groq",
  deepseek: "deepseek",
  mistral: "mistral",
  xai: "x-ai",
  together: "together",
};

type Catalogue = typeof import("@pydantic/genai-prices");

/** Prices from a catalogue that is part of the package; nothing is fetched. */
export function createPrices(): Prices {
  let catalogue: Catalogue | undefined;
  let loading: Promise<Catalogue> | undefined;
  const loaded = async (): Promise<Catalogue> => {
    loading ??= import("@pydantic/genai-prices");
    catalogue = await loading;
    return catalogue;
  };
  return {
    load: async () => void (await loaded()),
    known: ({ provider, local, prices }, id) => {
      const said = saidPrice(prices, id);
      if (said) return said;
      if (local) return free;
      const name = names[provider];
      if (name === undefined) return unknown;
      return catalogue && priceIn(catalogue, name, id);
    },
    of: async ({ provider, local, prices }, id) => {
      const said = saidPrice(prices, id);
      if (said) return said;
      if (local) return free;
      const name = names[provider];
      if (name === undefined) return unknown;
      return loaded().then(
        (all) => priceIn(all, name, id),
        () => unknown,
      );
    },
  };
}

/**
 * The amount that the cache saved in a turn: the price of the cached tokens as plain input, minus their actual price.
 */
export function savedBy(price: PriceOf, usage: TurnUsage): number | undefined {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage;
  if (cacheRead === 0 && cacheWrite === 0) return undefined;
  const cost = price(usage);
  const plain = price({ input: input + cacheRead + cacheWrite, output });
  return cost === undefined || plain === undefined ? undefined : plain - cost;
}

/** The price in the user's settings; `*` applies to every model of the provider. */
function saidPrice(prices: Endpoint["prices"], id: string): PriceOf | undefined {
  const price = prices?.[id] ?? prices?.["*"];
  if (!price) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return (used) =>
    (used.input * input +
      used.output * output +
      (used.cacheRead ?? 0) * cacheRead +
      (used.cacheWrite ?? 0) * cacheWrite) /
    1_000_000;
}

const free: PriceOf = () => 0;
const unknown: PriceOf = () => undefined;

function priceIn({ calcPrice, findProvider }: Catalogue, providerId: string, id: string): PriceOf {
  const provider = findProvider({ providerId });
  if (provider === undefined) return unknown;
  return ({ input, output, cacheRead = 0, cacheWrite = 0 }) => {
    const usage = {
      input_tokens: input + cacheRead + cacheWrite,
      output_tokens: output,
      ...(cacheRead > 0 && { cache_read_tokens: cacheRead }),
      ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    };
    try {
      return calcPrice(usage, id, { provider })?.total_price;
    } catch {
      return undefined; // an unknown price must not fail the turn
    }
  };
}
