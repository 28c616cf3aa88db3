import type { ProviderStatus } from "../../core/model/choose.ts";
import type { Model } from "../../core/model/model.ts";
import { proxyFor } from "../../core/net/proxy.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { Endpoint, ModelPrice } from "../wires/endpoint.ts";
import type { WireParts } from "../wires/wire.ts";
import { compatible, type ProviderRow, providers, wires } from "./providers.ts";

/** The user's settings for a provider. */
export type ProviderSettings = Readonly<{
  /** The protocol that the provider uses; for a custom provider, OpenAI chat by default. */
  type?: "openai" | "openai-responses" | "anthropic" | "google";
  baseURL?: string;
  apiKey?: string;
  /** The environment variable that holds the key. */
  apiKeyEnv?: string;
  headers?: Readonly<Record<string, string>>;
  /** Prices by model name; `*` matches every model. */
  prices?: Readonly<Record<string, ModelPrice>>;
  /** How long the provider may send nothing before the request is given up. */
  silenceMs?: number;
}>;

/** The settings of each protocol for a custom provider. */
const types: Readonly<Record<NonNullable<ProviderSettings["type"]>, ProviderRow>> = {
  openai: { ...compatible, baseURL: "", baseURLFrom: [], keys: [] },
  "openai-responses": { ...providers["openai"]!, baseURL: "", baseURLFrom: [], keys: [] },
  anthropic: { ...providers["anthropic"]!, baseURL: "", baseURLFrom: [], keys: [] },
  google: { ...providers["google"]!, baseURL: "", baseURLFrom: [], keys: [] },
};

/** A configured provider: its address, whether it can be used, and how its models are created. */
export type Provider = Readonly<{
  name: string;
  /** The wire protocol, as named in the settings. */
  type: string;
  endpoint: Endpoint;
  /** The environment variables that may contain the provider's key. */
  keys: readonly string[];
  /** The environment variable that the provider's address came from. */
  baseURLFrom?: string;
  status: ProviderStatus;
  /** True: the provider charges less for the beginning of a request that it has cached. */
  caches: boolean;
  open(means: WireParts): Promise<Model>;
}>;

/** The network settings for requests to providers: a proxy, and the user's certificate authorities. */
export type ProviderNetwork = Readonly<{ proxy?: string | undefined; ca?: readonly string[] | undefined }>;

type Env = Readonly<Record<string, string | undefined>>;

/** Resolves a provider from the environment and the user's settings; `undefined` for an unknown name. */
export function providerFor(
  name: string,
  settings: ProviderSettings | undefined,
  env: Env,
  network: ProviderNetwork = {},
): Provider | undefined {
  const known = Object.hasOwn(providers, name) ? providers[name] : undefined;
  const own = settings && types[settings.type ?? "openai"];
  const row = known === undefined || settings?.type !== undefined ? own && { ...own, ...names(known) } : known;
  if (row === undefined) return undefined;
  const from = row.baseURLFrom.find((variable) => isSet(env[variable]));
  const given = settings?.baseURL ?? (from === undefined ? row.baseURL : env[from]!);
  if (given === "") {
    throw new CrewError("BAD_INPUT", `The provider "${name}" has no address.`, "Give the provider a `baseURL`.");
  }
  const keys = settings?.apiKeyEnv === undefined ? row.keys : [settings.apiKeyEnv];
  const keyName = settings?.apiKey === undefined ? keys.find((variable) => isSet(env[variable])) : undefined;
  const key = settings?.apiKey ?? (keyName === undefined ? undefined : env[keyName]);
  const bare = given.replace(/\/+$/, "");
  const baseURL = row.address?.(bare) ?? bare;
  const proxy = proxyFor(addressOf(name, baseURL), env, network.proxy);
  const endpoint: Endpoint = {
    provider: name,
    baseURL,
    headers: settings?.headers ?? {},
    local: row.local === true,
    thinking: row.thinking,
    quirks: row.quirks ?? {},
    ...defined({ key }),
    ...((keyName ?? keys[0]) !== undefined && { keyName: keyName ?? keys[0]! }),
    ...defined({ proxy, ca: network.ca, silenceMs: settings?.silenceMs, prices: settings?.prices }),
  };
  return {
    name,
    type: settings?.type ?? (known === undefined ? "openai" : name),
    endpoint,
    keys,
    ...(settings?.baseURL === undefined && from !== undefined && { baseURLFrom: from }),
    status: statusOf({ local: row.local === true, keys, key, keyName }),
    caches: row.caches === true,
    open: async (means) => (await wires[row.wire]()).open(endpoint, means),
  };
}

function addressOf(name: string, given: string): string {
  if (URL.canParse(given)) return given;
  throw new CrewError(
    "BAD_INPUT",
    `The address of the provider "${name}" is not a URL: ${given}`,
    "Write https://host/path.",
  );
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

/** The parts of a known provider that stay valid when the user configures another protocol: its address and its key. */
function names(known: ProviderRow | undefined): Partial<ProviderRow> {
  if (known === undefined) return {};
  const { baseURL, baseURLFrom, keys } = known;
  return { baseURL, baseURLFrom, keys };
}

type Keys = Readonly<{ local: boolean; keys: readonly string[]; key: string | undefined; keyName: string | undefined }>;

function statusOf({ local, keys, key, keyName }: Keys): ProviderStatus {
  if (keyName !== undefined) return { usable: true, because: `${keyName} is set` };
  if (key !== undefined) return { usable: true, because: "the key is configured" };
  if (local || keys.length === 0) return { usable: true, because: "no key is needed" };
  const because = `${keys[0]} is not set`;
  return { usable: false, because, hint: `${because}: export the key, or use --model ollama/...` };
}
