import { urlToHttpOptions } from "node:url";
import { defined } from "../../core/text/defined.ts";
import { version } from "../../core/text/version.ts";
import { type HttpConnection, createConnections } from "./connections.ts";
import { Exchange, type ProviderAnswer, StaleError } from "./exchange.ts";
import { createHeaderTexts } from "./header-text.ts";
import { proxyHeaders } from "./tunnel.ts";

/** Sends requests to one provider and reuses connections. */
export type ProviderConnection = Readonly<{
  get(path: string, request: GetRequest): Promise<ProviderAnswer>;
  post(path: string, request: PostRequest): Promise<ProviderAnswer>;
}>;

export type GetRequest = Readonly<{ headers: Readonly<Record<string, string>>; signal: AbortSignal }>;
/**
 * `body` writes the text. It is called again if the request has to be sent again, so that the text need not be kept.
 */
export type PostRequest = GetRequest & Readonly<{ body: () => string }>;
type SentRequest = GetRequest & Readonly<{ body?: () => string }>;

export type ConnectOptions = Readonly<{ silenceMs?: number; proxy?: string; ca?: readonly string[] }>;

const agentHeader = { "user-agent": `subcrew/${version}` };
const postHeaders = { "content-type": "application/json", accept: "text/event-stream", ...agentHeader };
const getHeaders = { accept: "application/json", ...agentHeader };

/** Idle timeout: how long a provider may send nothing at all, not even a keep-alive. */
const SILENCE_MS = 10 * 60_000;

/**
 * Opens connections to a provider. It is an HTTP/1.1 client on plain sockets, written for subcrew, because `node:http`
 * costs two and fetch four times as much per turn (decision 560). Redirects are not followed, so a key never reaches
 * another origin.
 */
export function connectProvider(
  baseURL: string,
  { silenceMs = SILENCE_MS, proxy, ca }: ConnectOptions = {},
): ProviderConnection {
  const address = baseURL.replace(/\/+$/, "");
  const base = new URL(address);
  const gate = proxy === undefined ? undefined : new URL(proxy);
  const isSecure = base.protocol === "https:";
  // Plain HTTP through a proxy: the proxy gets the full address and sends the request itself.
  const forwarder = isSecure ? undefined : gate;
  const peer = forwarder ?? base;
  const hold = createConnections({
    host: urlToHttpOptions(peer).hostname ?? "",
    port: Number(peer.port) || (peer.protocol === "https:" ? 443 : 80),
    isSecure: peer.protocol === "https:",
    ...defined({ tunnel: isSecure ? gate : undefined, ca }),
  });
  const login = loginOf(base);
  const headersFor = createHeaderTexts((usual, own) => ({
    host: base.host,
    ...usual,
    ...login,
    ...own,
    ...(forwarder && proxyHeaders(forwarder)),
  }));

  /** The request lines by method and path: each address is parsed once, not for each request. */
  const lines = new Map<string, string>();
  const lineOf = (method: string, path: string): string => {
    const key = `${method} ${path}`;
    const known = lines.get(key) ?? requestLine(method, new URL(address + path), forwarder !== undefined);
    lines.set(key, known);
    return known;
  };

  // This is a separate function, because a closure in `send` would keep the request's text in memory until the answer
  // arrives.
  const begin = (
    connection: HttpConnection,
    path: string,
    { headers, body, signal }: SentRequest,
  ): Promise<ProviderAnswer> => {
    const exchange = new Exchange(connection, { silenceMs, signal });
    if (body === undefined)
      return exchange.send(`${lineOf("GET", path)}${headersFor(getHeaders, headers)}\r\n`, "utf8");
    const text = body();
    const length = Buffer.byteLength(text);
    const head = `${lineOf("POST", path)}${headersFor(postHeaders, headers)}content-length: ${length}\r\n\r\n`;
    return exchange.send(head + text, length === text.length ? "latin1" : "utf8");
  };

  const send = async (path: string, request: SentRequest, fresh = false): Promise<ProviderAnswer> => {
    const { headers, body, signal } = request;
    if (signal.aborted) throw new Error("aborted");
    // an invalid header throws before a connection is taken
    headersFor(body === undefined ? getHeaders : postHeaders, headers);
    const connection = await hold({ silenceMs, signal, fresh });
    try {
      return await begin(connection, path, request);
    } catch (error) {
      // The provider closed an idle connection at the moment it was reused: the request is sent again.
      if (error instanceof StaleError && !signal.aborted) return send(path, request, true);
      throw error;
    }
  };
  return { get: send, post: send };
}

function requestLine(method: string, { origin, pathname, search }: URL, isForwarded: boolean): string {
  return `${method} ${isForwarded ? origin : ""}${pathname}${search} HTTP/1.1\r\n`;
}

/** The login in an address, as a header. */
function loginOf(address: URL): Record<string, string> {
  const { auth } = urlToHttpOptions(address);
  return typeof auth === "string" ? { authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
}
