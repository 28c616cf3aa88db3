import { randomUUID } from "node:crypto";
import { isRecord } from "../core/text/json.ts";
import type { ProtocolServer, Sdk } from "./sdk.ts";

/**
 * The sessions of clients with a protocol version of 2025: a request, its forms and its cancellation arrive over
 * several connections.
 */
export type HttpSessions = Readonly<{
  /** The response to a request that belongs to a session or begins a session; otherwise `undefined`. */
  answer(request: Request): Promise<Response | undefined>;
  close(): Promise<void>;
}>;

export type HttpSessionOptions = Readonly<{
  sdk: Sdk;
  /** Creates the server of a new session. */
  serve(): ProtocolServer;
  maxRequestBodySize: number;
  onError(error: unknown): void;
}>;

type Transport = InstanceType<Sdk["WebStandardStreamableHTTPServerTransport"]>;

/**
 * The maximum number of sessions. Clients rarely end them, so beyond this number the least recently used session is
 * ended.
 */
const MOST_SESSIONS = 1_000;

export function createHttpSessions({ sdk, serve, maxRequestBodySize, onError }: HttpSessionOptions): HttpSessions {
  /** The sessions, in the order of their last use. */
  const sessions = new Map<string, Transport>();
  const use = (id: string, transport: Transport): void => {
    sessions.delete(id);
    sessions.set(id, transport);
    for (const [oldest, unused] of sessions) {
      if (sessions.size <= MOST_SESSIONS) return;
      sessions.delete(oldest);
      unused.close().catch(onError);
    }
  };
  const begin = async (): Promise<Transport> => {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => use(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
      maxRequestBodySize,
    });
    Object.assign(transport, { onerror: onError });
    await serve().connect(transport);
    return transport;
  };
  return {
    answer: async (request) => {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return (await isInitialize(request)) ? (await begin()).handleRequest(request) : undefined;
      const transport = sessions.get(id);
      if (!transport) return unknownSession();
      use(id, transport);
      return transport.handleRequest(request);
    },
    close: async () => {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      sessions.clear();
    },
  };
}

/** True when a request is the handshake of a protocol version of 2025 or earlier. Newer protocols have no handshake. */
async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== "POST") return false;
  try {
    const body: unknown = await request.clone().json();
    return isRecord(body) && body["method"] === "initialize";
  } catch {
    return false; // the protocol library reports what is wrong with the request
  }
}

/** The response for an unknown session. Its status makes the client begin a new session. */
const unknownSession = (): Response =>
  Response.json(
    {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32001, message: "The MCP session does not exist. Send `initialize` to start a new session." },
    },
    { status: 404 },
  );
