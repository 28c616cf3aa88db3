import { basename } from "node:path";
import {
  type Catalogue,
  type Choice,
  chooseModel,
  type ModelCandidate,
  type ModelWish,
  type WishSource,
} from "../../core/model/choose.ts";
import { contextWindow } from "../../core/model/context-window.ts";
import type { HoldRules } from "../../core/model/hold.ts";
import type { Model } from "../../core/model/model.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { ChosenModel, ModelSource } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { splitModelName } from "../../core/vocabulary/model-name.ts";
import { tiers } from "../../core/vocabulary/tiers.ts";
import { createPrices, type Prices } from "../wires/prices.ts";
import { ConfiguredProviders } from "./configured-providers.ts";
import { fallingBack } from "./falling-back.ts";
import { anyReopening } from "./holding.ts";
import type { ModelRegistryConfig, RecordedProviders } from "./model-config.ts";
import { OpenedModels } from "./opened-models.ts";
import type { Provider } from "./provider.ts";
import { modelOfTier, modelsOfTiers, windowsOfTiers } from "./tier-models.ts";

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
  return new ConfiguredModels(config, createPrices());
}

class ConfiguredModels implements ModelRegistry {
  readonly providerNames: readonly string[];
  readonly #config: ModelRegistryConfig;
  readonly #prices: Prices;
  readonly #providers: ConfiguredProviders;
  readonly #opened: OpenedModels;
  readonly #catalogue: Catalogue;
  readonly #windows: ReadonlyMap<string, number>;
  /** Cache of choices: many tasks request the same models, and the available models of a crew do not change. */
  readonly #choices = new Map<string, Choice>();
  readonly #resolved = new Map<string, ResolvedModel>();

  constructor(config: ModelRegistryConfig, prices: Prices) {
    this.#config = config;
    this.#prices = prices;
    this.#providers = new ConfiguredProviders(config);
    this.providerNames = this.#providers.names;
    this.#opened = new OpenedModels(config, this.#providers, { prices });
    this.#catalogue = this.#catalogueOf(config);
    this.#windows = windowsOfTiers(config.tiers);
  }

  readonly look = (wishes: readonly ModelWish[], binding?: WishSource): Choice => {
    const key = JSON.stringify([wishes, binding]);
    const choice = this.#choices.get(key) ?? chooseModel(wishes, this.#catalogue, binding);
    if (this.#choices.size < MOST_CHOICES) this.#choices.set(key, choice);
    return choice;
  };

  readonly choose: ModelSource["choose"] = (wishes, options) => this.#choose(wishes, options);

  readonly forRun = (rules: HoldRules, recorded?: RecordedProviders): ModelSource =>
    recorded && this.#providers.hasMoved(recorded)
      ? new ConfiguredModels({ ...this.#config, holds: this.#opened.holds, recorded }, this.#prices).forRun(rules)
      : { choose: (wishes, options) => this.#choose(wishes, options, rules) };

  readonly resolve = (nameOrTier: string): ResolvedModel => {
    const name = modelOfTier(nameOrTier, this.#config);
    const before = this.#resolved.get(name);
    if (before) return before;
    const { provider: at, id } = partsOf(name);
    const found = this.provider(at);
    if (found === undefined) throw unknownProvider(at, this.#catalogue);
    const made = { name, provider: found.type, modelId: id, model: this.#opened.ofProvider(found, id) };
    this.#resolved.set(name, made);
    return made;
  };

  readonly getDefault = (): ResolvedModel => this.resolve([this.#config.default ?? tiers.balanced].flat()[0]!);

  readonly provider = (name: string): Provider | undefined => this.#providers.get(name);

  readonly records = (): RecordedProviders => this.#providers.records();

  readonly loadPrices = (): Promise<void> => this.#prices.load();

  #catalogueOf(config: ModelRegistryConfig): Catalogue {
    const given = Object.keys(config.models ?? {});
    return {
      named: (name) => this.#opened.has(name),
      provider: (name) => this.#statusOf(name),
      names: [...given, ...Object.keys(config.builtin ?? {}), ...this.#providers.names],
      default: config.default ?? [...given.slice(0, 1), ...tiers.balanced],
      ...(config.default === undefined && { lastResort: "offline" }),
      tiers: modelsOfTiers(config),
    };
  }

  #statusOf(name: string): ReturnType<Catalogue["provider"]> {
    const found = this.provider(name);
    if (!found) return undefined;
    const { endpoint, baseURLFrom, status } = found;
    const isNamed =
      this.#providers.settingsOf(name) !== undefined ||
      [this.#config.default ?? []].flat().some((model) => model.startsWith(`${name}/`));
    const isUnconfirmed = endpoint.local && endpoint.key === undefined && baseURLFrom === undefined && !isNamed;
    return isUnconfirmed ? { ...status, isUnconfirmed } : status;
  }

  async #choose(
    wishes: readonly ModelWish[],
    { binding, retry = true, thinking }: Parameters<ModelSource["choose"]>[1] = {},
    rules?: HoldRules,
  ): ReturnType<ModelSource["choose"]> {
    const { candidates: found, misses, warnings } = this.look(wishes, binding);
    const candidates = thinking === undefined ? found : found.map((one) => ({ ...one, thinking }));
    const [first] = candidates;
    if (first === undefined) return { misses };
    const contenders = await Promise.all(
      candidates.map(async (one) => ({ ...one, ...(await this.#opened.open(one, { retry, rules })) })),
    );
    return {
      name: shown(first.name),
      ref: first.name,
      id: first.id,
      model: contenders.length === 1 ? contenders[0]!.model : fallingBack(contenders),
      why: first.why,
      warnings,
      ...this.#factsOf(first),
      ...defined({
        thinking: first.thinking,
        reopening: anyReopening(contenders.flatMap((one) => one.reopening ?? [])),
      }),
    };
  }

  #factsOf({ name, id, provider: at }: ModelCandidate): Pick<ChosenModel, "contextWindow" | "price"> {
    const found = at === undefined ? undefined : this.provider(at);
    const given = this.#windows.get(at === undefined ? name : `${at}/${id}`);
    const window = given ?? contextWindow(id);
    return {
      ...(window !== undefined && (given !== undefined || found?.endpoint.local !== true) && { contextWindow: window }),
      ...(found && { price: (tokens) => this.#prices.known(found.endpoint, id)?.(tokens) }),
      ...(name === "offline" && { price: () => 0 }),
    };
  }
}

/** The display name of a model; a model from a file has the name of the file without its folder. */
function shown(name: string): string {
  const [, prefix, rest] = /^(scripted:)(.+)$/s.exec(name) ?? [];
  return prefix === undefined || rest === undefined ? name : `${prefix}${basename(rest)}`;
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
