import { CrewError } from "../core/schema/error.ts";
import { isDeeplyNested, isRecord, TOO_DEEP_JSON } from "../core/text/json.ts";
import type { Crew } from "../crew/crew-type.ts";
import { MAX_REQUEST_BYTES, openServer } from "../runtime/network/loopback-server.ts";
import type { DelegationTools } from "./delegated.ts";
import { createHttpSessions } from "./http-sessions.ts";
import { offersWith } from "./offers.ts";
import { ServerContext, type ServerContextOptions } from "./server-context.ts";
import { loadSdk } from "./sdk.ts";
import { createServer } from "./server.ts";

export type HttpOptions = ServerContextOptions &
  Readonly<{
    /** The access token. It allows the use of everything that this server offers. */
    token: string;
    /** The host name or address to listen on; loopback by default. */
    host?: string;
    /** The port; by default a free port. */
    port?: number;
    /** Delegation tools to offer in addition to subcrew's own tools. */
    delegation?: DelegationTools;
    /** True when tools are listed with all fields of their arguments and results. */
    full?: boolean;
    /** True when agents of the crew cannot change anything; every tool is then announced as read-only. */
    readOnly?: boolean;
    onError(error: unknown): void;
  }>;

export type HttpServing = Readonly<{ url: string; close(): Promise<void> }>;

/** The path of the MCP endpoint. */
const PATH = "/mcp";

/** Serves clients over HTTP. Every request needs the token and a host name of this server. */
export async function serveHttp(
  crew: Crew,
  { token, host = "127.0.0.1", port = 0, delegation, full = false, readOnly = false, onError, ...rules }: HttpOptions,
): Promise<HttpServing> {
  const [sdk, { toNodeHandler }] = await Promise.all([loadSdk(), loadNode()]);
  const office = new ServerContext(crew, rules);
  const serving = { sdk, office, offers: () => offersWith({ delegation, full, readOnly }), onError };
  const handler = sdk.createMcpHandler(({ era }) => createServer(serving, era), {
    onerror: onError,
    maxRequestBodySize: MAX_REQUEST_BYTES,
  });
  const sessions = createHttpSessions({
    sdk,
    serve: () => createServer(serving, "legacy"),
    maxRequestBodySize: MAX_REQUEST_BYTES,
    onError,
  });
  const fetch: typeof handler.fetch = async (request, options) =>
    (await refusal(request)) ?? (await sessions.answer(request)) ?? handler.fetch(request, options);
  const speak = toNodeHandler({ fetch }, { onerror: onError, maxRequestBodySize: MAX_REQUEST_BYTES });
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
      await Promise.all([handler.close(), sessions.close()]);
      await http.close();
    },
  };
}

/** The answer to a message that is nested too deeply; `undefined` for every other message. */
async function refusal(request: Request): Promise<Response | undefined> {
  if (request.method !== "POST") return undefined;
  const message: unknown = await request
    .clone()
    .json()
    .catch(() => undefined); // the library answers a message that is not JSON or is too long
  if (!isDeeplyNested(message)) return undefined;
  const id = isRecord(message) ? message["id"] : undefined;
  const error = { code: -32600, message: `The message is ${TOO_DEEP_JSON}. Send flatter data.` };
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  return Response.json({ jsonrpc: "2.0", id: known, error }, { status: 400 });
}

async function loadNode(): Promise<typeof import("@modelcontextprotocol/node")> {
  try {
    return await import("@modelcontextprotocol/node");
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "Serving MCP over HTTP needs the package @modelcontextprotocol/node.",
      "Install the package: npm install @modelcontextprotocol/node",
      { cause },
    );
  }
}
