import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";
import { version } from "../../core/text/version.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { proxyHeaders, trusting, tunnelAgent } from "./tunnel.ts";

/** Sends requests to one provider and reuses connections. */
export type ProviderConnection = Readonly<{
  get(path: string, request: GetRequest): Promise<IncomingMessage>;
  post(path: string, request: PostRequest): Promise<IncomingMessage>;
}>;

export type GetRequest = Readonly<{ headers: Readonly<Record<string, string>>; signal: AbortSignal }>;
export type PostRequest = GetRequest & Readonly<{ body: string }>;

export type ConnectOptions = Readonly<{ silenceMs?: number; proxy?: string; ca?: readonly string[] }>;

const postHeaders = {
  "content-type": "application/json",
  accept: "text/event-stream",
  "user-agent": `subcrew/${version}`,
};
const getHeaders = { accept: "application/json", "user-agent": `subcrew/${version}` };

/** Idle timeout: how long a provider may send nothing at all, not even a keep-alive. */
const SILENCE_MS = 10 * 60_000;

/**
 * Opens a connection to a provider. It uses node:http instead of fetch, because a turn then takes half the processor
 * time. Redirects are not followed, so a key never reaches another origin.
 */
export function connectProvider(
  baseURL: string,
  { silenceMs = SILENCE_MS, proxy, ca }: ConnectOptions = {},
): ProviderConnection {
  const isSecure = baseURL.startsWith("https:");
  const client = isSecure ? https : http;
  const gate = proxy === undefined ? undefined : new URL(proxy);
  const agent = isSecure && gate ? tunnelAgent(gate, ca) : new client.Agent({ keepAlive: true, ...trusting(ca) });
  const base = baseURL.replace(/\/+$/, "");
  // Plain HTTP through a proxy: the proxy gets the full address and sends the request itself.
  const forwarded =
    gate && !isSecure ? { address: gate, headers: { host: new URL(base).host, ...proxyHeaders(gate) } } : undefined;

  /** Parsed addresses: each is parsed once, not for each request. */
  const targets = new Map<string, RequestOptions>();
  const target = (path: string): RequestOptions => {
    const known =
      targets.get(path) ??
      (forwarded ? forwardedTo(forwarded.address, base + path) : urlToHttpOptions(new URL(base + path)));
    targets.set(path, known);
    return known;
  };

  const once = (path: string, { headers, body, signal }: GetRequest & { body?: string }): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const usual =
        body === undefined ? getHeaders : { ...postHeaders, "content-length": String(Buffer.byteLength(body)) };
      const all = { ...usual, ...headers, ...forwarded?.headers };
      const options = { method: body === undefined ? "GET" : "POST", agent, headers: all, timeout: silenceMs };
      const req = client.request({ ...target(path), ...options });
      const giveUp = (): void => void req.destroy(new Error("aborted"));
      if (signal.aborted) giveUp();
      const release = onAbort(signal, giveUp);
      req.once("timeout", () => req.destroy(new SilentError(silenceMs)));
      req.once("close", release);
      req.once("response", resolve);
      req.on("error", (error) => reject(stale(error, req.reusedSocket) ? new StaleError() : error));
      req.end(body);
    });

  const send: ProviderConnection["post"] = (path, request) =>
    once(path, request).catch((error: unknown) => {
      // The provider closed an idle connection at the moment it was reused: the request is sent again.
      if (error instanceof StaleError && !request.signal.aborted) return once(path, request);
      throw error;
    });
  return { get: once, post: send };
}

const forwardedTo = (proxy: URL, address: string): RequestOptions => ({ ...urlToHttpOptions(proxy), path: address });

/** The idle timeout expired. */
export class SilentError extends Error {
  readonly ms: number;
  constructor(ms: number) {
    super(`no data for ${Math.round(ms / 1_000)} s`);
    this.name = "SilentError";
    this.ms = ms;
  }
}

class StaleError extends Error {}

function stale(error: NodeJS.ErrnoException, reused: boolean): boolean {
  return reused && (error.code === "ECONNRESET" || error.code === "EPIPE");
}
