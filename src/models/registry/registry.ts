import { basename } from "node:path";
import {
  type Catalogue,
  type Choice,
  chooseModel,
  type Miss,
  type ModelCandidate,
  type ModelWish,
  type WishSource,
} from "../../core/model/choose.ts";
import { contextWindow } from "../../core/model/context-window.ts";
import type { HoldRules } from "../../core/model/hold.ts";
import type { Model } from "../../core/model/model.ts";
import type { RequestQuota } from "../../core/model/request-quota.ts";
import type { RecordedProvider } from "../../core/run/event.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { ChosenModel, ModelSource, Reopening } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { parseModelName, splitModelName } from "../../core/vocabulary/model-name.ts";
import { type Tier, tierNames, tiers } from "../../core/vocabulary/tiers.ts";
import { holdKey, openProviderHolds, type ProviderHolds } from "../../runtime/store/provider-holds.ts";
import { certificateAuthorities } from "../../runtime/network/certificates.ts";
import { isLanguageModel, type LanguageModel } from "../ai-sdk/is-language-model.ts";
import { createPrices, type Prices } from "../wires/prices.ts";
import type { WireParts } from "../wires/wire.ts";
import { fallingBack } from "./falling-back.ts";
import { anyReopening, holding } from "./holding.ts";
import { lazily } from "./lazily.ts";
import { metered } from "./metered.ts";
import { type Provider, type ProviderNetwork, type ProviderSettings, providerFor } from "./provider.ts";
import { providers } from "./providers.ts";
import { atRecordedAddress, hasMoved, recordOf } from "./recorded-provider.ts";
import { type Prefixes, warmingPrefix } from "./warm-prefix.ts";
import { retrying } from "./retrying.ts";

/** The settings from which the models of a crew are created. */
export type ModelRegistryConfig = Readonly<{
  /** Settings of known providers, and the user's own providers. */
  providers?: Readonly<Record<string, ProviderSettings>>;
  /** The models of each tier (`fast`, `balanced`, `powerful`). */
  tiers?: Partial<Readonly<Record<Tier, TierModels | undefined>>>;
  /** The default model, or several in order of preference. */
  default?: string | readonly string[];
  /** Model objects given by the library user, by name. */
  models?: Readonly<Record<string, Model | LanguageModel>>;
  /**
   * Models that are part of subcrew; an entry that ends in a colon is a prefix, and its function gets the rest of the
   * name.
   */
  builtin?: Readonly<Record<string, (rest: string) => Promise<Model>>>;
  env?: Readonly<Record<string, string | undefined>>;
  /** The proxy and the certificate authorities from the settings. */
  network?: Readonly<{ proxy?: string; caFile?: string }>;
  random?: () => number;
  /** The API keys that providers refuse right now; by default only this registry knows them. */
  holds?: ProviderHolds;
  /** Limits on model requests, shared with other processes; none by default. */
  quota?: RequestQuota;
  /** The recorded providers of a resumed run: each is used at its recorded address, or not at all. */
  recorded?: RecordedProviders;
}>;

/**
 * The models of a tier: a single model, several models in order of preference, or an object that also gives their
 * context window.
 */
type TierModels =
  | string
  | readonly string[]
  | Readonly<{ model: string | readonly string[]; contextWindow?: number | undefined }>;

/** The addresses of providers by name, as a run recorded them. */
export type RecordedProviders = Readonly<Record<string, RecordedProvider>>;

/** A model of a provider; created once, on first use. */
export type ResolvedModel = Readonly<{ name: string; provider: string; modelId: string; model: Model }>;

export type ModelRegistry = ModelSource &
  Readonly<{
    /** The model for the name of a tier or for `provider/model`. Throws if it cannot be resolved. */
    resolve(nameOrTier: string): ResolvedModel;
    getDefault(): ResolvedModel;
    /**
     * The models for one run: they wait while their provider refuses the key, and a resumed run uses the recorded
     * addresses.
     */
    forRun(rules: HoldRules, recorded?: RecordedProviders): ModelSource;
    /** Resolves requests for a model without creating it. */
    look(wishes: readonly ModelWish[], binding?: WishSource): Choice;
    provider(name: string): Provider | undefined;
    /** Known providers, and the user's own. */
    providerNames: readonly string[];
    /** The addresses of all usable providers, for the record of a run. */
    records(): RecordedProviders;
    /** Resolves once prices are loaded. */
    loadPrices(): Promise<void>;
  }>;

/** How many different model choices are cached. */
const MOST_CHOICES = 1_000;

/** Creates the registry of a crew's models. */
export function createModelRegistry(config: ModelRegistryConfig): ModelRegistry {
  return openRegistry(config, createPrices());
}

function openRegistry(config: ModelRegistryConfig, prices: Prices): ModelRegistry {
  const { models = {}, builtin = {}, env = {}, random = Math.random, holds = openProviderHolds(undefined) } = config;
  const means = { prices };
  const opened = new Map<string, Model>();
  const resolved = new Map<string, ResolvedModel>();
  const known = new Map<string, Provider | undefined>();

  let network: ProviderNetwork | undefined;
  const made = (name: string, settings: ProviderSettings | undefined): Provider | undefined => {
    const { proxy, caFile } = config.network ?? {};
    network ??= { proxy, ca: certificateAuthorities({ caFile, env }) };
    return providerFor(name, settings, env, network);
  };
  const provided = (name: string): Provider | undefined => {
    const settings = own(config.providers, name);
    const found = made(name, settings);
    const before = own(config.recorded, name);
    return found && before
      ? atRecordedAddress(found, before, (baseURL) => made(name, { ...settings, baseURL }))
      : found;
  };
  const provider = (name: string): Provider | undefined => {
    if (!known.has(name)) known.set(name, provided(name));
    return known.get(name);
  };
  /**
   * A provider, or `undefined` if its address is not a valid URL: a provider that no task uses must not fail the tasks
   * of other providers.
   */
  const valid = (name: string): Provider | undefined => {
    try {
      return provider(name);
    } catch {
      return undefined;
    }
  };
  const providerNames = [...new Set([...Object.keys(providers), ...Object.keys(config.providers ?? {})])];
  let records: RecordedProviders | undefined;
  const once = (name: string, make: () => Model): Model => {
    const model = opened.get(name) ?? make();
    opened.set(name, model);
    return model;
  };
  const ofProvider = (found: Provider): Model => once(`provider:${found.name}`, () => lazily(() => found.open(means)));

  const catalogue: Catalogue = {
    named: (name) => Object.hasOwn(models, name) || rowOf(name, builtin) !== undefined,
    provider: (name) => {
      const found = provider(name);
      if (!found) return undefined;
      const { endpoint, baseURLFrom, status } = found;
      const isNamed =
        own(config.providers, name) !== undefined ||
        [config.default ?? []].flat().some((model) => model.startsWith(`${name}/`));
      const isUnconfirmed = endpoint.local && endpoint.key === undefined && baseURLFrom === undefined && !isNamed;
      return isUnconfirmed ? { ...status, isUnconfirmed } : status;
    },
    names: [
      ...Object.keys(models),
      ...Object.keys(builtin),
      ...Object.keys(providers),
      ...Object.keys(config.providers ?? {}),
    ],
    default: config.default ?? [...Object.keys(models).slice(0, 1), ...tiers.balanced],
    ...(config.default === undefined && { lastResort: "offline" }),
    tiers: modelsOfTiers(config),
  };

  const choices = new Map<string, Choice>();
  /** Cache of choices: many tasks request the same models, and the available models of a crew do not change. */
  const chosen = (wishes: readonly ModelWish[], binding?: WishSource): Choice => {
    const key = JSON.stringify([wishes, binding]);
    const choice = choices.get(key) ?? chooseModel(wishes, catalogue, binding);
    if (choices.size < MOST_CHOICES) choices.set(key, choice);
    return choice;
  };

  const prefixes = new Map<string, Prefixes>();
  /**
   * Lets requests wait for the first request with the same beginning, which fills the provider's cache. Whether the key
   * is refused is checked after that, since the wait may be long.
   */
  const warmed = (found: Provider, model: Model): Model => {
    if (!found.caches) return model;
    const known = prefixes.get(found.name) ?? new Map();
    prefixes.set(found.name, known);
    return warmingPrefix(model, { prefixes: known });
  };

  /** Cache of hashed API keys: every task needs them, and the providers of a crew do not change. */
  const holdKeys = new Map<string, string>();
  const holdKeyOf = ({ name, endpoint: { baseURL, key, headers } }: Provider, model?: string): string => {
    const at = `${name}/${model ?? ""}`;
    const known = holdKeys.get(at) ?? holdKey(baseURL, key, headers, model);
    holdKeys.set(at, known);
    return known;
  };

  /** A provider's model whose requests wait while the provider refuses its key. */
  const held = ({ id }: ModelCandidate, found: Provider, { rules }: Asking): OpenedModel => {
    const model = config.quota ? metered(ofProvider(found), config.quota, found.name) : ofProvider(found);
    if (!rules) return { model: warmed(found, model) };
    const keys = { key: holdKeyOf(found), model: holdKeyOf(found, id) };
    const of = { keys, provider: found.name, id, holds, rules };
    const { model: asked, reopening } = holding(model, of);
    return { model: warmed(found, asked), reopening };
  };

  /** The model of a candidate; a model that the library user passed handles its own retries. */
  const openModel = async (candidate: ModelCandidate, asking: Asking): Promise<OpenedModel> => {
    const { provider: at } = candidate;
    if (at === undefined) return { model: await modelOf(candidate, asking) };
    const { model, ...more } = held(candidate, provider(at)!, asking);
    return { model: again(model, asking), ...more };
  };
  const again = (model: Model, { retry, rules }: Asking): Model =>
    retry ? retrying(model, { random, ...(rules && { parks: rules.parks }) }) : model;
  const modelOf = async ({ name }: ModelCandidate, asking: Asking): Promise<Model> => {
    const given = own(models, name);
    if (typeof given === "function") return given;
    if (isLanguageModel(given))
      return again(
        once(`model:${name}`, () => lazily(() => adapted(given, means))),
        asking,
      );
    const row = rowOf(name, builtin)!;
    return row.open(row.rest);
  };

  const windows = windowsOfTiers(config);
  const facts = ({ name, id, provider: at }: ModelCandidate): Pick<ChosenModel, "contextWindow" | "price"> => {
    const found = at === undefined ? undefined : provider(at);
    const given = windows.get(at === undefined ? name : `${at}/${id}`);
    const window = given ?? contextWindow(id);
    return {
      ...(window !== undefined && (given !== undefined || found?.endpoint.local !== true) && { contextWindow: window }),
      ...(found && { price: (tokens) => prices.known(found.endpoint, id)?.(tokens) }),
      ...(name === "offline" && { price: () => 0 }),
    };
  };

  const choose =
    (rules?: HoldRules): ModelSource["choose"] =>
    async (wishes, { binding, retry = true, thinking } = {}) => {
      const { candidates: found, misses, warnings } = chosen(wishes, binding);
      const candidates = thinking === undefined ? found : found.map((one) => ({ ...one, thinking }));
      const [first] = candidates;
      if (first === undefined) return { misses };
      const contenders = await Promise.all(
        candidates.map(async (one) => ({ ...one, ...(await openModel(one, { retry, rules })) })),
      );
      const reopening = anyReopening(contenders.flatMap((one) => one.reopening ?? []));
      const model = contenders.length === 1 ? contenders[0]!.model : fallingBack(contenders);
      const { id, why } = first;
      const thinks = first.thinking === undefined ? {} : { thinking: first.thinking };
      return {
        name: shown(first.name),
        ref: first.name,
        id,
        model,
        why,
        warnings,
        ...thinks,
        ...facts(first),
        ...defined({ reopening }),
      };
    };

  return {
    look: chosen,
    choose: choose(),
    forRun: (rules, recorded) =>
      recorded && Object.entries(recorded).some(([name, before]) => movedFrom(valid(name), before))
        ? openRegistry({ ...config, holds, recorded }, prices).forRun(rules)
        : { choose: choose(rules) },
    resolve: (nameOrTier) => {
      const spec = specOf(nameOrTier, config);
      const before = resolved.get(spec);
      if (before) return before;
      const { provider: at, id } = partsOf(spec);
      const found = provider(at);
      if (found === undefined) throw unknownProvider(at, catalogue);
      const made = {
        name: spec,
        provider: found.type,
        modelId: id,
        model: retrying(withId(warmed(found, ofProvider(found)), id), { random }),
      };
      resolved.set(spec, made);
      return made;
    },
    getDefault() {
      return this.resolve([config.default ?? tiers.balanced].flat()[0]!);
    },
    provider,
    providerNames,
    records: () =>
      (records ??= Object.fromEntries(
        providerNames.flatMap((name) => {
          const found = valid(name);
          return found?.status.usable ? [[name, recordOf(found)]] : [];
        }),
      )),
    loadPrices: () => prices.load(),
  };
}

const movedFrom = (found: Provider | undefined, before: RecordedProvider): boolean =>
  found !== undefined && hasMoved(found, before);

/** How the models of one task are called. */
type Asking = Readonly<{ retry: boolean; rules: HoldRules | undefined }>;

type OpenedModel = Readonly<{ model: Model; reopening?: Reopening }>;

/** Loads the adapter of AI SDK models on first use. */
const adapted = async (model: LanguageModel, means: WireParts): Promise<Model> => {
  const asked = (await import("../ai-sdk/language-model.ts")).fromLanguageModel(model, means);
  return /\b(?:anthropic|openai|google)\b/.test(model.provider) ? warmingPrefix(asked) : asked;
};

const withId =
  (model: Model, id: string): Model =>
  (request, signal) =>
    model({ ...request, model: id }, signal);

const own = <T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

/** The entry of a built-in model, and the part of the model's name after the colon, as in `scripted:FILE`. */
function rowOf(
  name: string,
  builtin: NonNullable<ModelRegistryConfig["builtin"]>,
): { open(rest: string): Promise<Model>; rest: string } | undefined {
  const [, prefix = name, rest = ""] = /^([^:]+:)(.+)$/s.exec(name) ?? [];
  const open = own(builtin, prefix);
  return open && { open, rest };
}

/** The display name of a model; a model from a file has the name of the file without its folder. */
function shown(name: string): string {
  const [, prefix, rest] = /^(scripted:)(.+)$/s.exec(name) ?? [];
  return prefix === undefined || rest === undefined ? name : `${prefix}${basename(rest)}`;
}

/** The models of each tier, without their context windows. */
export function modelsOfTiers({
  tiers: given = {},
}: Readonly<{ tiers?: ModelRegistryConfig["tiers"] | undefined }>): NonNullable<Catalogue["tiers"]> {
  const named = tierNames.flatMap((tier) => {
    const value = given[tier];
    return value === undefined ? [] : [[tier, typeof value === "object" && "model" in value ? value.model : value]];
  });
  return Object.fromEntries(named) as NonNullable<Catalogue["tiers"]>;
}

/**
 * The context windows that the tiers give to their models, by `provider/model`; a thinking level is not part of the
 * name.
 */
function windowsOfTiers({ tiers: given = {} }: ModelRegistryConfig): ReadonlyMap<string, number> {
  const rows = Object.values(given).flatMap((value) => {
    if (typeof value !== "object" || !("model" in value) || value.contextWindow === undefined) return [];
    const { contextWindow: tokens } = value;
    return [value.model].flat().map((name): [string, number] => [parseModelName(name).name, tokens]);
  });
  return new Map(rows);
}

/** Keeps `provider/model` unchanged; any other word is a tier, and a word without a model means the default model. */
function specOf(nameOrTier: string, config: ModelRegistryConfig): string {
  if (nameOrTier.includes("/")) return nameOrTier;
  const tier = tierNames.find((one) => one === nameOrTier);
  const usual = config.default ?? (tier === undefined ? nameOrTier : tiers[tier]);
  return [(tier && modelsOfTiers(config)[tier]) ?? usual].flat()[0]!;
}

function partsOf(spec: string): { provider: string; id: string } {
  const parts = spec.includes("/") ? splitModelName(spec) : undefined;
  if (parts !== undefined) return parts;
  const hint = "Write provider/model, or one of the tiers fast, balanced and powerful.";
  throw new CrewError("UNKNOWN_MODEL", `Invalid model spec "${spec}": expected "provider/model"`, hint);
}

function unknownProvider(name: string, { names }: Catalogue): CrewError {
  const hint = `Add the provider under \`providers\` in the settings, or use one of ${names.filter((one) => !one.endsWith(":")).join(", ")}.`;
  return new CrewError("UNKNOWN_MODEL", `Provider "${name}" not found in llm.providers`, hint);
}

/** The error for a missing model, with a hint. */
export function noModel(misses: readonly Miss[]): CrewError {
  const [first] = misses;
  return new CrewError(first?.code ?? "UNKNOWN_MODEL", missed(misses), first?.hint ?? "Name a model with --model.");
}

function missed(misses: readonly Miss[]): string {
  const [first, ...more] = misses;
  if (!first) return "No model is available here.";
  if (more.length > 0)
    return `None of these models can be used: ${misses.map(({ name, because }) => `${name} (${because})`).join(", ")}.`;
  const { name, because } = first;
  return because.includes(name)
    ? `${because[0]?.toUpperCase()}${because.slice(1)}.`
    : `The model ${name} cannot be used: ${because}.`;
}
