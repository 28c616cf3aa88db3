import type { ModelCandidate } from "../../core/model/choose.ts";
import type { HoldRules } from "../../core/model/hold.ts";
import type { Model } from "../../core/model/model.ts";
import type { Reopening } from "../../core/task/runner.ts";
import { ownEntry } from "../../core/text/json.ts";
import { holdKey, openProviderHolds, type ProviderHolds } from "../../runtime/ledgers/provider-holds.ts";
import { isLanguageModel, type LanguageModel } from "../ai-sdk/is-language-model.ts";
import type { WireParts } from "../wires/wire.ts";
import type { ConfiguredProviders } from "./configured-providers.ts";
import { holding } from "./holding.ts";
import { lazily } from "./lazily.ts";
import { metered } from "./metered.ts";
import type { ModelRegistryConfig } from "./model-config.ts";
import type { Provider } from "./provider.ts";
import { retrying } from "./retrying.ts";
import { type Prefixes, warmingPrefix } from "./warm-prefix.ts";

type OpenedModelConfig = Pick<ModelRegistryConfig, "models" | "builtin" | "random" | "holds" | "quota">;

/** How the models of one task are called. */
export type Asking = Readonly<{ retry: boolean; rules: HoldRules | undefined }>;

export type OpenedModel = Readonly<{ model: Model; reopening?: Reopening }>;

/** The models of a crew, ready to be called. Each adapter is loaded once, on first use. */
export class OpenedModels {
  readonly holds: ProviderHolds;
  readonly #config: OpenedModelConfig;
  readonly #providers: ConfiguredProviders;
  readonly #means: WireParts;
  readonly #loaded = new Map<string, Model>();
  readonly #prefixes = new Map<string, Prefixes>();
  /** Cache of hashed API keys: every task needs them, and the providers of a crew do not change. */
  readonly #holdKeys = new Map<string, string>();

  constructor(config: OpenedModelConfig, providers: ConfiguredProviders, means: WireParts) {
    this.#config = config;
    this.#providers = providers;
    this.#means = means;
    this.holds = config.holds ?? openProviderHolds(undefined);
  }

  /** True for a model that the library user gave or that is built in. */
  has(name: string): boolean {
    const { models = {}, builtin } = this.#config;
    return Object.hasOwn(models, name) || rowOf(name, builtin) !== undefined;
  }

  /** The model of a candidate; a model that the library user passed handles its own retries. */
  async open(candidate: ModelCandidate, asking: Asking): Promise<OpenedModel> {
    const { name, provider: at } = candidate;
    if (at === undefined) return { model: await this.#named(name, asking) };
    const { model, ...more } = this.#held(candidate, this.#providers.get(at)!, asking);
    return { model: this.#again(model, asking), ...more };
  }

  /** A model of a provider that retries, and lets requests wait for the first request with the same beginning. */
  ofProvider(found: Provider, id: string): Model {
    const model = this.#warmed(found, this.#adapter(found));
    return this.#again((request, signal) => model({ ...request, model: id }, signal), {
      retry: true,
      rules: undefined,
    });
  }

  async #named(name: string, asking: Asking): Promise<Model> {
    const given = ownEntry(this.#config.models ?? {}, name);
    if (typeof given === "function") return given;
    if (isLanguageModel(given)) {
      const model = this.#once(`model:${name}`, () => lazily(() => adapted(given, this.#means)));
      return this.#again(model, asking);
    }
    const row = rowOf(name, this.#config.builtin)!;
    return row.open(row.rest);
  }

  /** A provider's model whose requests wait while the provider refuses its key. */
  #held({ id }: ModelCandidate, found: Provider, { rules }: Asking): OpenedModel {
    const { quota } = this.#config;
    const adapter = this.#adapter(found);
    const model = quota ? metered(adapter, quota, found.name) : adapter;
    if (!rules) return { model: this.#warmed(found, model) };
    const keys = { key: this.#holdKeyOf(found), model: this.#holdKeyOf(found, id) };
    const { model: asked, reopening } = holding(model, { keys, provider: found.name, id, holds: this.holds, rules });
    return { model: this.#warmed(found, asked), reopening };
  }

  #again(model: Model, { retry, rules }: Asking): Model {
    const random = this.#config.random ?? Math.random;
    return retry ? retrying(model, { random, ...(rules && { parks: rules.parks }) }) : model;
  }

  /**
   * Lets requests wait for the first request with the same beginning, which fills the provider's cache. Whether the key
   * is refused is checked after that, since the wait may be long.
   */
  #warmed(found: Provider, model: Model): Model {
    if (!found.caches) return model;
    const prefixes = this.#prefixes.get(found.name) ?? new Map();
    this.#prefixes.set(found.name, prefixes);
    return warmingPrefix(model, { prefixes });
  }

  #adapter(found: Provider): Model {
    return this.#once(`provider:${found.name}`, () => lazily(() => found.open(this.#means)));
  }

  #once(name: string, make: () => Model): Model {
    const model = this.#loaded.get(name) ?? make();
    this.#loaded.set(name, model);
    return model;
  }

  #holdKeyOf({ name, endpoint: { baseURL, key, headers } }: Provider, model?: string): string {
    const at = `${name}/${model ?? ""}`;
    const known = this.#holdKeys.get(at) ?? holdKey(baseURL, key, headers, model);
    this.#holdKeys.set(at, known);
    return known;
  }
}

/** Loads the adapter of AI SDK models on first use. */
const adapted = async (model: LanguageModel, means: WireParts): Promise<Model> => {
  const asked = (await import("../ai-sdk/language-model.ts")).fromLanguageModel(model, means);
  return /\b(?:anthropic|openai|google)\b/.test(model.provider) ? warmingPrefix(asked) : asked;
};

/** The entry of a built-in model, and the part of the model's name after the colon, as in `scripted:FILE`. */
function rowOf(
  name: string,
  builtin: OpenedModelConfig["builtin"] = {},
): { open(rest: string): Promise<Model>; rest: string } | undefined {
  const [, prefix = name, rest = ""] = /^([^:]+:)(.+)$/s.exec(name) ?? [];
  const open = ownEntry(builtin, prefix);
  return open && { open, rest };
}
