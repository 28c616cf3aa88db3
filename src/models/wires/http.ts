import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";
import { version } from "../../core/text/version.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { keptOpen, proxyHeaders, trusting, tunnelAgent } from "./tunnel.ts";

/** Sends requests to one provider and reuses connections. */
export type ProviderConnection = Readonly<{
  get(path: string, request: GetRequest): Promise<IncomingMessage>;
  post(path: string, request: PostRequest): Promise<IncomingMessage>;
}>;

export type GetRequest = Readonly<{ headers: Readonly<Record<string, string>>; signal: AbortSignal }>;
export type PostRequest = GetRequest & Readonly<{ body: string }>;

export type ConnectOptions = Readonly<{ silenceMs?: number; proxy?: string; ca?: readonly string[] }>;

const agentHeader = { "user-agent": `subcrew/${version}` };
const postHeaders = { "content-type": "application/json", accept: "text/event-stream", ...agentHeader };
const getHeaders = { accept: "application/json", ...agentHeader };

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
  const agent = isSecure && gate ? tunnelAgent(gate, ca) : new client.Agent({ ...keptOpen, ...trusting(ca) });
  const base = baseURL.replace(/\/+$/, "");
  // Plain HTTP through a proxy: the proxy gets the full address and makes the request itself.
  const forwarded = gate && !isSecure ? { address: gate, headers: proxyHeaders(gate) } : undefined;

  /** Parsed addresses: each is parsed once, not for each request. */
  const targets = new Map<string, RequestTarget>();
  const target = (path: string): RequestTarget => {
    const known = targets.get(path) ?? targetOf(base + path, forwarded?.address);
    targets.set(path, known);
    return known;
  };
  const login = loginOf(base);
  const { host } = new URL(base);
  /** The headers of a request besides its length. For one provider they are the same object each time. */
  const headersFor = createHeaderLists((usual, own) => ({ host, ...usual, ...login, ...own, ...forwarded?.headers }));

  const once = (path: string, { headers, body, signal }: GetRequest & { body?: string }): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { protocol, hostname, port, path: at } = target(path);
      const fixed = headersFor(body === undefined ? getHeaders : postHeaders, headers);
      const all = body === undefined ? fixed : [...fixed, "content-length", String(Buffer.byteLength(body))];
      const method = body === undefined ? "GET" : "POST";
      const req = client.request({
        protocol,
        hostname,
        port,
        path: at,
        method,
        agent,
        headers: all,
        timeout: silenceMs,
      });
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

type RequestTarget = Pick<RequestOptions, "protocol" | "hostname" | "port" | "path">;

function targetOf(address: string, proxy: URL | undefined): RequestTarget {
  const { protocol, hostname, port, path } = urlToHttpOptions(proxy ?? new URL(address));
  return { protocol, hostname, port, path: proxy ? address : path };
}

/** The login in an address, as a header. */
function loginOf(address: string): Record<string, string> {
  const { auth } = urlToHttpOptions(new URL(address));
  return typeof auth === "string" ? { authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
}

type Headers = Readonly<Record<string, string>>;

/**
 * Headers as a list of names and values, which Node sends unchanged; a headers object would be copied and checked for
 * each request.
 */
function createHeaderLists(
  joined: (usual: Headers, own: Headers) => Headers,
): (usual: Headers, own: Headers) => string[] {
  const lists = new WeakMap<Headers, WeakMap<Headers, string[]>>();
  return (usual, own) => {
    const known = lists.get(usual) ?? new WeakMap<Headers, string[]>();
    const list = known.get(own) ?? listOf(joined(usual, own));
    lists.set(usual, known.set(own, list));
    return list;
  };
}

/**
 * Of two headers whose names differ only in case, the later one counts. The length is added later, because each body
 * has its own.
 */
function listOf(headers: Headers): string[] {
  const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [name, value]]));
  named.delete("content-length");
  return [...named.values()].flat();
}

/** Thrown when the provider sent nothing for too long. */
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
