import type { Tier } from "../../core/vocabulary/tiers.ts";
import { shortcuts, tierNames } from "../../core/vocabulary/tiers.ts";
import { withoutLogin } from "../wires/endpoint.ts";
import { type ProviderProbe, probeProvider } from "./probe.ts";
import type { ModelRegistry } from "./registry.ts";

/** An overview of model names and providers, without keys. */
export type ModelOverview = Readonly<{
  default: NameView;
  tiers: readonly (NameView & Readonly<{ name: Tier }>)[];
  shortcuts: readonly NameView[];
  providers: readonly ProviderView[];
}>;

/** The model that a name resolves to; if there is none, `because` gives the reason. */
export type NameView = Readonly<{ name: string; model?: string; because: string }>;

export type ProviderView = Readonly<{
  name: string;
  usable: boolean;
  because: string;
  /** The environment variables that may contain the provider's key. */
  keys: readonly string[];
  baseURL: string;
  /** The environment variable that the address came from. */
  baseURLFrom?: string;
  /** True: the provider runs on this machine and needs no key. */
  local: boolean;
  /** True: the provider is used without a key. */
  keyless: boolean;
  /** The models that the provider listed; absent: it was not asked. */
  probe?: ProviderProbe;
}>;

/** The overview after asking every usable provider for its models. */
export async function probedOverview(registry: ModelRegistry, signal: AbortSignal): Promise<ModelOverview> {
  const overview = overviewOf(registry);
  const providers = overview.providers.map(async (view) =>
    view.usable ? { ...view, probe: await probeProvider(registry.provider(view.name)!, signal) } : view,
  );
  return { ...overview, providers: await Promise.all(providers) };
}

/** Builds the overview without creating models. */
export function overviewOf(registry: ModelRegistry): ModelOverview {
  const view = <N extends string>(name: N): NameView & Readonly<{ name: N }> => {
    const { candidates, misses } = registry.look([{ by: "call", names: name }], "call");
    const first = candidates[0];
    if (first === undefined) return { name, because: [...new Set(misses.map(({ because }) => because))].join("; ") };
    return {
      name,
      model: first.name,
      because: (first.provider && registry.provider(first.provider)?.status.because) ?? "built in",
    };
  };
  return {
    default: view("auto"),
    tiers: tierNames.map(view),
    shortcuts: Object.keys(shortcuts)
      .filter((name) => /^[a-z]+(-lite)?$/.test(name) && Array.isArray(shortcuts[name]))
      .map(view),
    providers: registry.providerNames.map((name) => {
      const { status, endpoint, keys, baseURLFrom } = registry.provider(name)!;
      const from = baseURLFrom === undefined ? {} : { baseURLFrom };
      return {
        name,
        usable: status.usable,
        because: status.because,
        keys,
        baseURL: withoutLogin(endpoint.baseURL),
        local: endpoint.local,
        keyless: status.usable && endpoint.key === undefined,
        ...from,
      };
    }),
  };
}
