import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import { pipeline, type Readable } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { callbackify } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Agent, buildConnector, Dispatcher } from "undici";
import { proxyFor } from "../../core/net/proxy.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { certificateAuthorities } from "./certificates.ts";
import { checkHeaders, crossing, type WebHeaders } from "./web-headers.ts";
import { judgeAddress, judgeUrl, parseAllowedHosts, type Target, webRefusal } from "./web-target.ts";
import { ownEntry } from "../../core/text/json.ts";

/** The network settings of the user. */
export type NetworkRules = Readonly<{
  /**
   * Hosts that may be contacted although they are not on the public internet, each exactly as host and port:
   * `127.0.0.1:8080`.
   */
  allowHosts?: readonly string[];
  /** An HTTP proxy that requests go through, instead of the proxy in environment variables. */
  proxy?: string;
  /** A PEM file with certificate authorities that are trusted in addition to the usual ones. */
  caFile?: string;
}>;

/** The environment, and dependencies that tests replace. */
export type NetworkParts = Readonly<{
  /**
   * The user's environment variables, which may name a proxy and certificate authorities; absent: no variables are
   * used.
   */
  env?: Readonly<Record<string, string | undefined>>;
  lookup?: (host: string) => Promise<readonly LookupAddress[]>;
  tls?: Pick<ConnectionOptions, "ca">;
  timeoutMs?: number;
}>;

/** One request for one resource. */
export type WebRequest = Readonly<{
  url: string;
  method?: string;
  headers?: WebHeaders;
  body?: string;
  /**
   * Hosts that this request may reach in addition to the user's list of hosts; used for addresses from the user's own
   * settings.
   */
  allowHosts?: readonly string[];
  /** Called with the target of a redirect before it is followed; throws to refuse it. */
  check?(url: string): void;
  /** How long the server may send nothing; 30 seconds by default. */
  silenceMs?: number;
}>;

/** A streaming response, decompressed while it arrives. The caller closes it. */
export type OpenAnswer = Readonly<{
  /** The address of the response, after redirects. */
  url: string;
  status: number;
  /** The headers; names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Readable;
  close(): Promise<void>;
}>;

/**
 * Sends a request to a server on the public internet and streams its response. Throws a refusal with a code if the
 * rules forbid the request, or an error with the cause.
 */
export type GuardedOpen = (request: WebRequest, signal: AbortSignal) => Promise<OpenAnswer>;

const MAX_HOPS = 5;
const SILENCE_MS = 30_000;
const CONNECT_MS = 10_000;

/**
 * Creates the only way in which agents access the network. The URL is checked first, then every resolved address, and
 * finally the connected socket, which decides. The target of a redirect is checked in the same way.
 */
export function createGuardedOpen(rules: NetworkRules = {}, parts: NetworkParts = {}): GuardedOpen {
  const allow = parseAllowedHosts(rules.allowHosts ?? []);
  if (rules.proxy !== undefined) proxyUrl(rules.proxy);
  const { env = {} } = parts;
  const ca = parts.tls?.ca ?? certificateAuthorities({ caFile: rules.caFile, env });
  const proxyOf = (url: URL): URL | undefined => {
    const found = proxyFor(url.href, env, rules.proxy);
    return found === undefined ? undefined : proxyUrl(found);
  };
  const tls = ca === undefined ? {} : { ca: ca as string[] };
  return (request, signal) => {
    const allowed = request.allowHosts ? new Set([...allow, ...parseAllowedHosts(request.allowHosts)]) : allow;
    const silenceMs = request.silenceMs ?? SILENCE_MS;
    return follow(request, { allowed, proxyOf, parts: { ...parts, tls }, signal, silenceMs });
  };
}

type Way = Readonly<{
  allowed: ReadonlySet<string>;
  proxyOf(url: URL): URL | undefined;
  parts: NetworkParts;
  signal: AbortSignal;
  silenceMs: number;
}>;
type Hop = Readonly<{ target: Target; method: string; headers: WebHeaders; body: string | undefined }>;
type Reply = OpenAnswer & Readonly<{ location: string | undefined }>;

async function follow(request: WebRequest, way: Way): Promise<OpenAnswer> {
  checkHeaders(request.headers ?? {});
  let hop: Hop = {
    target: judgeUrl(request.url, way.allowed),
    method: (request.method ?? "GET").toUpperCase(),
    headers: { ...DEFAULT_HEADERS, ...lowerCased(request.headers ?? {}) },
    body: request.body,
  };
  for (let hops = 0; ; hops += 1) {
    const reply = await ask(hop, way);
    if (reply.location === undefined) return reply;
    await reply.close();
    if (hops === MAX_HOPS) throw webRefusal("REDIRECT", `the server redirected more than ${MAX_HOPS} times`);
    hop = nextHop(hop, reply, way);
    request.check?.(hop.target.url.href);
  }
}

const DEFAULT_HEADERS: WebHeaders = {
  accept: "text/html, application/json, text/*;q=0.9, */*;q=0.5",
  "user-agent": "subcrew",
};

/** The target of a redirect, checked like a first request; bodies and credentials are not sent to another server. */
function nextHop({ target, method, headers, body }: Hop, { status, location }: Reply, way: Way): Hop {
  if (!URL.canParse(location ?? "", target.url.href))
    throw webRefusal("REDIRECT", "the server redirected to an address that is not valid");
  const next = judgeUrl(new URL(location ?? "", target.url).href, way.allowed);
  if (target.url.protocol === "https:" && next.url.protocol === "http:") {
    throw webRefusal("REDIRECT", `the server redirected from https to http (${next.host}), which is not followed`);
  }
  const sameOrigin = target.url.origin === next.url.origin;
  const keepsBody = status === 307 || status === 308 || method === "GET" || method === "HEAD";
  if (!keepsBody)
    return { target: next, method: "GET", headers: crossing(headers, { sameOrigin, body: false }), body: undefined };
  if (!sameOrigin && body !== undefined) {
    throw webRefusal(
      "REDIRECT",
      `the server redirected the request with its body to ${next.host}, which is not followed: send it to that host directly if this is intended`,
    );
  }
  return { target: next, method, headers: crossing(headers, { sameOrigin, body: true }), body };
}

/** One request and the beginning of its answer, over a connection of its own. */
async function ask({ target, method, headers, body }: Hop, way: Way): Promise<Reply> {
  // Uses the default export, because a bundler provides nothing else of a CommonJS package that is imported
  // dynamically.
  const loaded = await import("undici");
  const undici = loaded.default as unknown as typeof loaded;
  const { dispatcher, origin } = await connection(undici, target, way).catch((error: unknown) => {
    throw couldNotBeAsked(target.url.host, error);
  });
  const close = (): Promise<void> => dispatcher.destroy();
  try {
    const response = await undici.request(`${origin}${target.url.pathname}${target.url.search}`, {
      dispatcher,
      method,
      headers: { "accept-encoding": "gzip, deflate, br", ...headers, host: target.url.host },
      ...defined({ body }),
      signal: way.signal,
    });
    const status = response.statusCode;
    const answered = flat(response.headers);
    const location = REDIRECTS.has(status) ? answered["location"] : undefined;
    // Without an error listener, a body that fails after it was abandoned would crash the process.
    response.body.on("error", () => {});
    const unpacked = location === undefined ? unpack(response.body, answered["content-encoding"]) : response.body;
    return { url: target.url.href, status, headers: answered, body: unpacked, close, location };
  } catch (error) {
    await close();
    throw couldNotBeAsked(target.url.host, error);
  }
}

/** An error for a request that failed, or for an answer that ended early. */
export function couldNotBeAsked(host: string, error: unknown): Error {
  return error instanceof Error && error.name === "Refusal"
    ? error
    : Object.assign(new Error(`${host} could not be reached: ${reason(error)}`, { cause: error }), {
        name: UNREACHABLE,
      });
}

const UNREACHABLE = "Unreachable";

/** True for the error of a connection, also inside of another error; false for an answer that arrived. */
export function isUnreachable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (at.name === UNREACHABLE) return true;
  return false;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type Connection = Readonly<{ dispatcher: Agent | Dispatcher; origin: string }>;

async function connection(
  undici: typeof import("undici"),
  target: Target,
  { proxyOf, parts, silenceMs }: Way,
): Promise<Connection> {
  const common = { pipelining: 0, maxHeaderSize: 65_536, headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const proxy = proxyOf(target.url);
  if (proxy === undefined) {
    const connect = checkedConnector(undici.buildConnector, target, parts);
    return { dispatcher: new undici.Agent({ ...common, connect }), origin: target.url.origin };
  }
  const dispatcher = new undici.ProxyAgent({
    ...common,
    uri: proxy.href,
    proxyTunnel: target.url.protocol === "https:",
    proxyTls: { ...parts.tls },
    requestTls: { ...parts.tls, servername: target.host },
  });
  return { dispatcher, origin: await originFor(target, parts) };
}

/**
 * The address that the proxy is asked to connect to: the checked IP address, so that the proxy cannot resolve the name
 * to another address. A host that the user allows by name is passed by name, since often only the proxy can resolve it.
 */
async function originFor(target: Target, parts: NetworkParts): Promise<string> {
  const { url, allowed, host } = target;
  if (allowed) return url.origin;
  const [address] = await addressesOf(target, parts).catch((error: unknown) => {
    if (!isUnresolved(error)) throw error;
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    throw new Error(
      `its name cannot be resolved here, so its address cannot be checked: to let the proxy resolve it, add ${host}:${port} to network.allowHosts`,
      { cause: error },
    );
  });
  const shown = address!.family === 6 ? `[${address!.address}]` : address!.address;
  return `${url.protocol}//${shown}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}

const isUnresolved = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN");

type Build = typeof buildConnector;

function checkedConnector(build: Build, target: Target, parts: NetworkParts): buildConnector.connector {
  const connect = build({
    ...parts.tls,
    timeout: CONNECT_MS,
    autoSelectFamily: true, // use all addresses of the host, so that an unreachable one does not fail the request
    // This is called for host names only; an IP address in the URL was already checked with the URL.
    lookup: callbackify(async (_host: string, _options: object) => [...(await addressesOf(target, parts))]),
  });
  return (options, done) => {
    connect(options, (...[error, socket]) => {
      if (error) return done(error, null);
      const refused = refusalOf(socket.remoteAddress ?? "", target);
      if (!refused) return done(null, socket);
      socket.destroy();
      done(refused, null);
    });
  };
}

function refusalOf(address: string, target: Target): Error | undefined {
  try {
    judgeAddress(address, target);
    return undefined;
  } catch (refused) {
    return refused as Error;
  }
}

/** Every address of a host. Throws if one of them is not public. */
async function addressesOf(target: Target, { lookup = everyAddress }: NetworkParts): Promise<readonly LookupAddress[]> {
  const addresses = await lookup(target.host);
  if (addresses.length === 0) throw new Error("the name has no address");
  for (const { address } of addresses) judgeAddress(address, target);
  return addresses;
}

const everyAddress = (host: string): Promise<LookupAddress[]> => systemLookup(host, { all: true, verbatim: true });

/** Decodes a compressed body. */
function unpack(stream: Readable, encoding: string | undefined): Readable {
  const decoders = (encoding ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
    .toReversed();
  if (decoders.length > MAX_ENCODINGS) throw new Error("the response is compressed too many times");
  return decoders.reduce<Readable>((packed, name) => {
    const decoder = ownEntry(DECODERS, name)?.();
    if (!decoder) throw new Error(`the response uses an unsupported compression (${name})`);
    return pipeline(packed, decoder, () => {});
  }, stream);
}

const MAX_ENCODINGS = 2;
const DECODERS: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function proxyUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new CrewError(
    "BAD_INPUT",
    "The address of the proxy (network.proxy, HTTPS_PROXY or HTTP_PROXY) is not an http or https URL.",
    "Use an address such as http://proxy.example:3128.",
  );
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  return Object.fromEntries(pairs);
}

const lowerCased = (headers: WebHeaders): WebHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "its name could not be resolved right now",
  ECONNREFUSED: "it does not accept connections",
  ECONNRESET: "it closed the connection",
  UND_ERR_SOCKET: "it closed the connection",
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_MS / 1_000} s`,
  UND_ERR_HEADERS_TIMEOUT: "it sent nothing for too long",
  UND_ERR_BODY_TIMEOUT: "it sent nothing for too long",
  UND_ERR_HEADERS_OVERFLOW: "the headers of its answer are too long",
};

function reason(error: unknown): string {
  if (isStopped(error)) return String(error.stop);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? messageOf(error);
}

function isStopped(value: unknown): value is { stop: unknown } {
  return typeof value === "object" && value !== null && "stop" in value;
}
