import { ownEntry } from "../../core/text/json.ts";
import { certificateAuthorities } from "../../runtime/network/certificates.ts";
import type { ModelRegistryConfig, RecordedProviders } from "./model-config.ts";
import { type Provider, type ProviderNetwork, type ProviderSettings, providerFor } from "./provider.ts";
import { providers } from "./providers.ts";
import { atRecordedAddress, hasMoved, recordOf } from "./recorded-provider.ts";

type ProviderConfig = Pick<ModelRegistryConfig, "providers" | "env" | "network" | "recorded">;

/** The known providers and those of the settings; each is resolved on first use. */
export class ConfiguredProviders {
  readonly names: readonly string[];
  readonly #config: ProviderConfig;
  readonly #known = new Map<string, Provider | undefined>();
  #network: ProviderNetwork | undefined;
  #records: RecordedProviders | undefined;

  constructor(config: ProviderConfig) {
    this.#config = config;
    this.names = [...new Set([...Object.keys(providers), ...Object.keys(config.providers ?? {})])];
  }

  /** The provider with this name. Throws if its address is not a valid URL. */
  get(name: string): Provider | undefined {
    if (!this.#known.has(name)) this.#known.set(name, this.#provided(name));
    return this.#known.get(name);
  }

  /** The settings of the user for a provider. */
  settingsOf(name: string): ProviderSettings | undefined {
    return ownEntry(this.#config.providers ?? {}, name);
  }

  /** The addresses of all usable providers. */
  records(): RecordedProviders {
    return (this.#records ??= Object.fromEntries(
      this.names.flatMap((name) => {
        const found = this.#valid(name);
        return found?.status.usable ? [[name, recordOf(found)]] : [];
      }),
    ));
  }

  /** True when a provider had another address when a recorded run began. */
  hasMoved(recorded: RecordedProviders): boolean {
    return Object.entries(recorded).some(([name, before]) => {
      const found = this.#valid(name);
      return found !== undefined && hasMoved(found, before);
    });
  }

  #provided(name: string): Provider | undefined {
    const settings = this.settingsOf(name);
    const found = this.#made(name, settings);
    const before = ownEntry(this.#config.recorded ?? {}, name);
    return found && before
      ? atRecordedAddress(found, before, (baseURL) => this.#made(name, { ...settings, baseURL }))
      : found;
  }

  #made(name: string, settings: ProviderSettings | undefined): Provider | undefined {
    const { env = {}, network: { proxy, caFile } = {} } = this.#config;
    this.#network ??= { proxy, ca: certificateAuthorities({ caFile, env }) };
    return providerFor(name, settings, env, this.#network);
  }

  /**
   * A provider, or `undefined` if its address is not a valid URL: a provider that no task uses must not fail the tasks
   * of other providers.
   */
  #valid(name: string): Provider | undefined {
    try {
      return this.get(name);
    } catch {
      return undefined;
    }
  }
}
