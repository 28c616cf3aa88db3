import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CrewError, messageOf } from "../../core/schema/error.ts";

/**
 * Options of an HTTP server for other programs: the server listens on loopback, needs a token and checks the host name
 * of requests. All servers of subcrew are opened with them.
 */
export type ServerOptions = Readonly<{
  /** The host name or address to listen on; loopback by default. */
  host?: string;
  /** The port; by default a free port. */
  port?: number;
  /** The accepted tokens, by the names of their callers. */
  tokens: Readonly<Record<string, string>>;
  /** Accepted host names besides loopback and `host`. */
  hosts?: readonly string[];
  /** True for requests that need no token. */
  isOpen?(request: IncomingMessage): boolean;
  /** True for links that a person may follow from another page or a file: a token in the link itself protects them. */
  isLink?(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, response: ServerResponse, caller: string): Promise<void>;
  onError(error: unknown): void;
}>;

export type RunningServer = Readonly<{ url: string; port: number; close(): Promise<void> }>;

/** The shortest token that cannot be guessed: 128 bits in hex or in a denser encoding. */
export const SHORTEST_TOKEN = 22;
export const MAX_REQUEST_BYTES = 1_000_000;

/** Opens the server and passes on authorised requests. Internal errors are not shown to clients. */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const { host = "127.0.0.1", port = 0, tokens, hosts = [], handle, onError } = options;
  const { isOpen = () => false, isLink = () => false } = options;
  for (const token of Object.values(tokens)) checkToken(token);
  const http = createServer({ headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 });
  http.maxHeadersCount = 0; // with a maximum, Node drops the headers after it, and they would not be checked
  http.maxConnections = 500;
  const bound = await new Promise<number>((resolve, reject) => {
    http.once("error", (cause) =>
      reject(
        new CrewError(
          "BAD_INPUT",
          `Cannot listen on ${host}:${port}: ${messageOf(cause)}.`,
          "Choose another --port, or leave out --port to use a free port.",
          { cause },
        ),
      ),
    );
    http.listen(port, host, () => resolve((http.address() as AddressInfo).port));
  });
  const guard = createGuard({
    tokens,
    port: bound,
    bound: host,
    hosts: [...(isWildcard(host) ? [] : [host]), ...hosts],
  });
  http.on("request", (request, response) => {
    const judged = isPlainRequest(request)
      ? guard(request.headers, { open: isOpen(request), link: isLink(request) })
      : 403;
    if (typeof judged === "number") {
      response
        .writeHead(
          judged,
          judged === 401 ? { "www-authenticate": "Bearer", connection: "close" } : { connection: "close" },
        )
        .end();
      request.resume();
      return;
    }
    handle(request, response, judged.caller).catch((error: unknown) => {
      onError(error);
      if (!response.headersSent) response.writeHead(statusOf(error), { connection: "close" });
      response.end();
    });
  });
  return {
    port: bound,
    url: `http://${bracketed(isWildcard(host) ? "127.0.0.1" : host)}:${bound}`,
    close: async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

/**
 * The methods that programs and browsers use. Requests with them are passed on, and each server answers the methods
 * that it does not offer.
 */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Whether a request names its host exactly once, and its target in plain form. If it names two hosts, another host in
 * the request target, or a path with steps such as `/../`, proxies may disagree about the host or the path.
 */
export function isPlainRequest({
  method = "GET",
  url = "",
  rawHeaders,
}: Partial<Pick<IncomingMessage, "method">> & Pick<IncomingMessage, "url" | "rawHeaders">): boolean {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const once = ["host", "origin", "authorization", "sec-fetch-site", "content-length"];
  return (
    METHODS.has(method) &&
    /^\/(?![/\\])[^\\#]*$/.test(url) && // URL parsers treat a backslash as a slash
    !/^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(url) &&
    once.every((name) => names.filter((each) => each === name).length < 2)
  );
}

/**
 * True for an address that means every interface. The host names are then unknown: only loopback names and configured
 * names are accepted.
 */
const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

function checkToken(token: string): void {
  if (token.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(token)) return;
  throw new CrewError(
    "BAD_INPUT",
    `A token must have at least ${SHORTEST_TOKEN} characters and no spaces.`,
    "Leave out the token to have one generated, or create a token with `openssl rand -hex 32`.",
  );
}

type GuardOptions = Pick<ServerOptions, "tokens"> &
  Readonly<{
    port: number;
    hosts: readonly string[];
    /** The address that the server listens on: loopback names of other addresses are not accepted. */
    bound?: string;
  }>;

/** Checks a request; returns its caller, or the HTTP status of the refusal. */
export type RequestGuard = (
  headers: IncomingHttpHeaders,
  request?: Readonly<{ open?: boolean; link?: boolean }>,
) => Readonly<{ caller: string }> | 401 | 403;

/**
 * Checks requests before reading their body. A web page can reach loopback under its own host name (DNS rebinding), so
 * host and origin are checked; and other local programs can reach it, so a token is needed.
 */
export function createGuard({ tokens, port, hosts, bound = "127.0.0.1" }: GuardOptions): RequestGuard {
  const names = [...loopbackNames(bound), ...hosts.map(bracketed)];
  const authorities = new Set(
    names.flatMap((name) => [`${name}:${port}`, ...(port === 80 || port === 443 ? [name] : [])]),
  );
  for (const name of hosts) if (/:\d+$/.test(name)) authorities.add(name.toLowerCase()); // the host name of a proxy, with its port
  const known = Object.entries(tokens).map(([caller, token]) => ({ caller, wanted: digest(`Bearer ${token}`) }));
  // A configured name with a port belongs to a proxy, whose pages may use TLS; this server itself uses plain HTTP.
  const proxied = new Set(hosts.filter((name) => /:\d+$/.test(name)).map((name) => name.toLowerCase()));
  const isOurs = (origin: string): boolean => {
    const [, scheme = "", name = ""] = /^(https?):\/\/(.*)$/.exec(origin.toLowerCase()) ?? [];
    return scheme === "http" ? authorities.has(name) : proxied.has(name);
  };
  return (
    { host = "", origin, authorization = "", "sec-fetch-site": site = "none" },
    { open = false, link = false } = {},
  ) => {
    if (!authorities.has(host.toLowerCase())) return 403;
    if (origin !== undefined && !isOurs(origin) && !link) return 403;
    if (site !== "none" && site !== "same-origin" && !link) return 403;
    const given = digest(authorization);
    const fits = known.filter(({ wanted }) => timingSafeEqual(given, wanted)); // all tokens are compared, so that timing reveals nothing about them
    if (fits[0]) return { caller: fits[0].caller };
    return open ? { caller: "" } : 401;
  };
}

/** Loopback host names that resolve to this address. */
function loopbackNames(bound: string): string[] {
  if (bound === "::") return ["127.0.0.1", "localhost", "[::1]"];
  if (bound === "::1" || bound === "[::1]") return ["localhost", "[::1]"];
  return bound === "localhost" ? ["127.0.0.1", "localhost", "[::1]"] : ["127.0.0.1", "localhost"];
}

const bracketed = (host: string): string =>
  (/^[0-9a-f]*:[0-9a-f:]*$/i.test(host) && host.split(":").length > 2 ? `[${host}]` : host).toLowerCase();

/** A hash, so that tokens of any length can be compared in constant time. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** An error that is answered with this HTTP status. */
function httpError(status: number, message: string): Error {
  return Object.assign(new Error(message), { status });
}

const statusOf = (error: unknown): number =>
  error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : 500;

/** The body of a JSON request. Throws if it is too long. */
export async function readJsonBody(request: IncomingMessage): Promise<string> {
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers["content-type"] ?? ""))
    throw httpError(415, "not JSON");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw httpError(413, "the request is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
