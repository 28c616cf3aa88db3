import type { RecordedProvider } from "../../core/run/event.ts";
import { holdKey } from "../../runtime/ledgers/provider-holds.ts";
import { withoutLogin } from "../wires/endpoint.ts";
import type { Provider } from "./provider.ts";

/**
 * The address of a provider, and a digest of its address and credentials. The digest reveals neither address nor
 * credentials.
 */
export function recordOf({ endpoint: { baseURL, key, headers } }: Provider): RecordedProvider {
  return { address: withoutLogin(baseURL), digest: holdKey(baseURL, key, headers) };
}

/** True when a provider had another address when a recorded run began. */
export function hasMoved({ endpoint: { baseURL } }: Provider, before: RecordedProvider): boolean {
  return withoutLogin(baseURL) !== before.address;
}

/**
 * The provider that a resumed run uses: at its recorded address, if the credentials in use were used with that address
 * before. Other credentials are never sent to an address from a journal: the provider is then unusable for this run.
 */
export function atRecordedAddress(
  now: Provider,
  before: RecordedProvider,
  reopen: (baseURL: string) => Provider | undefined,
): Provider {
  // a missing key is reported instead of the other address
  if (!hasMoved(now, before) || !now.status.usable) return now;
  const { key, headers, baseURL } = now.endpoint;
  const { address, digest } = before;
  const same = holdKey(address, key, headers) === digest ? reopen(address) : undefined;
  if (same) return same;
  const because = `the address of the provider was ${address} when the run began and is ${withoutLogin(baseURL)} now, and ${digest === undefined ? "the record of the run does not say which key was used there" : "the key has changed"}`;
  const where = now.baseURLFrom ?? `providers.${now.name}.baseURL`;
  return { ...now, status: { usable: false, because, hint: `Set ${where} to ${address} again, or start a new run.` } };
}
