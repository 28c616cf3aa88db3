import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CrewError, messageOf } from "../core/error.ts";
import type { Crew } from "../crew.ts";
import { createGuard } from "./guard.ts";
import type { DelegationTools } from "./delegated.ts";
import { createOffice, type OfficeOptions } from "./office.ts";
import { offersWith } from "./offers.ts";
import { loadSdk } from "./sdk.ts";
import { createServer } from "./server.ts";

export type HttpOptions = OfficeOptions &
  Readonly<{
    /** Whoever has it may do everything that this server offers. */
    token: string;
    /** Loopback by default. */
    host?: string;
    /** A free one by default. */
    port?: number;
    /** Delegation tools to offer besides our own. */
    delegation?: DelegationTools;
    onError(error: unknown): void;
  }>;

export type HttpServing = Readonly<{ url: string; close(): Promise<void> }>;

/** Where the protocol is. */
const PATH = "/mcp";
const MAX_BODY_BYTES = 1_000_000;

/** Serves clients over HTTP. Every request needs the token, and has to come under a name of this server. */
export async function serveHttp(
  crew: Crew,
  { token, host = "127.0.0.1", port = 0, delegation, onError, ...rules }: HttpOptions,
): Promise<HttpServing> {
  const [sdk, { toNodeHandler }] = await Promise.all([loadSdk(), loadNode()]);
  const office = createOffice(crew, rules);
  const serving = { sdk, office, offers: () => offersWith(delegation), onError };
  const handler = sdk.createMcpHandler(({ era }) => createServer(serving, era), {
    onerror: onError,
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const speak = toNodeHandler(handler, { onerror: onError, maxRequestBodySize: MAX_BODY_BYTES });
  const http = createHttpServer({ headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 });
  http.maxHeadersCount = 100;
  http.maxConnections = 500;
  const bound = await listen(http, host, port);
  const guard = createGuard({ token, port: bound, hosts: isWildcard(host) ? [] : [host] });
  http.on("request", (request, response) => {
    const refused = guard(request.headers) ?? (new URL(request.url ?? "/", "http://here").pathname === PATH ? undefined : 404);
    if (refused !== undefined) {
      response.writeHead(refused, refused === 401 ? { "www-authenticate": "Bearer" } : {}).end();
      request.resume();
      return;
    }
    void speak(request as Parameters<typeof speak>[0], response).catch((error: unknown) => {
      onError(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}${PATH}`,
    close: async () => {
      await office.runs.close("the MCP server was stopped");
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Every address of the machine has many names, none of which this server knows: it is called by loopback, or by name. */
const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

function listen(http: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause) =>
      reject(
        new CrewError(
          "BAD_INPUT",
          `The MCP server cannot listen on ${host}:${port}: ${messageOf(cause)}.`,
          "Choose another --port, or leave it out.",
          { cause },
        ),
      ),
    );
    http.listen(port, host, () => resolve((http.address() as AddressInfo).port));
  });
}

async function loadNode(): Promise<typeof import("@modelcontextprotocol/node")> {
  try {
    return await import("@modelcontextprotocol/node");
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "Serving MCP over HTTP needs its library.",
      "Install it: npm install @modelcontextprotocol/node.",
      { cause },
    );
  }
}
