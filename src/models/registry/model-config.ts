import type { Model } from "../../core/model/model.ts";
import type { RequestQuota } from "../../core/model/request-quota.ts";
import type { RecordedProvider } from "../../core/run/event.ts";
import type { Tier } from "../../core/vocabulary/tiers.ts";
import type { ProviderHolds } from "../../runtime/ledgers/provider-holds.ts";
import type { LanguageModel } from "../ai-sdk/is-language-model.ts";
import type { ProviderSettings } from "./provider.ts";

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
