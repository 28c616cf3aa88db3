import { CrewError } from "../core/schema/error.ts";
import type { Crew } from "../crew.ts";
import { MAX_REQUEST_BYTES, openServer } from "../runtime/network/loopback-server.ts";
import type { DelegationTools } from "./delegated.ts";
import { offersWith } from "./offers.ts";
import { createServerContext, type ServerContextOptions } from "./server-context.ts";
import { loadSdk } from "./sdk.ts";
import { createServer } from "./server.ts";

export type HttpOptions = ServerContextOptions &
  Readonly<{
    /** The access token: it grants everything that this server offers. */
    token: string;
    /** Loopback by default. */
    host?: string;
    /** A free one by default. */
    port?: number;
    /** Delegation tools to offer in addition to our own. */
    delegation?: DelegationTools;
    onError(error: unknown): void;
  }>;

export type HttpServing = Readonly<{ url: string; close(): Promise<void> }>;

/** Where the protocol is. */
const PATH = "/mcp";

/** Serves clients over HTTP. Every request needs the token, and has to come under a name of this server. */
export async function serveHttp(
  crew: Crew,
  { token, host = "127.0.0.1", port = 0, delegation, onError, ...rules }: HttpOptions,
): Promise<HttpServing> {
  const [sdk, { toNodeHandler }] = await Promise.all([loadSdk(), loadNode()]);
  const office = createServerContext(crew, rules);
  const serving = { sdk, office, offers: () => offersWith(delegation), onError };
  const handler = sdk.createMcpHandler(({ era }) => createServer(serving, era), {
    onerror: onError,
    maxRequestBodySize: MAX_REQUEST_BYTES,
  });
  const speak = toNodeHandler(handler, { onerror: onError, maxRequestBodySize: MAX_REQUEST_BYTES });
  const http = await openServer({
    tokens: { client: token },
    host,
    port,
    onError,
    handle: async (request, response) => {
      if (new URL(request.url ?? "/", "http://here").pathname !== PATH) return void response.writeHead(404).end();
      await speak(request as Parameters<typeof speak>[0], response);
    },
  });
  return {
    url: `${http.url}${PATH}`,
    close: async () => {
      await office.runs.close("the MCP server was stopped");
      await handler.close();
      await http.close();
    },
  };
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
