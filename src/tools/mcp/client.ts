import type {
  AuthProvider,
  CallToolResult,
  Client,
  ContentBlock,
  Progress,
  RequestOptions,
  Tool,
  Transport,
} from "@modelcontextprotocol/client";
import { CrewError } from "../../core/schema/error.ts";
import { isRecord, isDeeplyNested, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { version } from "../../core/text/version.ts";

/** The MCP library; only this file names it, and it is loaded when the first server is used. */
export type ClientSdk = typeof import("@modelcontextprotocol/client");

/** The transport of messages to and from an MCP server. */
export type McpTransport = Transport;
export type McpResult = CallToolResult;
export type McpContent = ContentBlock;
/** Supplies the token of a request, and handles a refused token. */
export type McpAuth = AuthProvider;
/** A tool as an MCP server offers it. */
export type OfferedTool = Pick<Tool, "name" | "description" | "inputSchema" | "outputSchema" | "annotations">;

/** A connected MCP server. */
export type McpSession = Readonly<{
  /** The tools that the server offers now; fetched again after the server announced a change. */
  tools(signal: AbortSignal, timeoutMs?: number): Promise<readonly OfferedTool[]>;
  call(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<McpResult>;
  /** The client object of the MCP library, for the resources and prompts of the server. */
  client: Client;
  /** Settles when the connection ends on either side. */
  closed: Promise<void>;
  close(): Promise<void>;
}>;

export type CallOptions = Readonly<{ signal: AbortSignal; timeoutMs: number; report?(text: string): void }>;

export async function loadClient(): Promise<ClientSdk> {
  try {
    return await import("@modelcontextprotocol/client");
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "MCP servers need the library of the MCP protocol, which is not installed.",
      "Install the library: npm install @modelcontextprotocol/client",
      { cause },
    );
  }
}

const CONNECT_MS = 30_000;
const LIST_MS = 15_000;
/** Maximum number of tools of a server. */
const MOST_TOOLS = 500;

/** Connects to an MCP server. Requests of the server to the client (models, forms, folders) are refused. */
export async function connectServer(sdk: ClientSdk, transport: McpTransport, signal: AbortSignal): Promise<McpSession> {
  const client = new sdk.Client(
    { name: "subcrew", version },
    { capabilities: {}, versionNegotiation: { mode: "auto" } },
  );
  let known: readonly OfferedTool[] | undefined;
  const closed = new Promise<void>((resolve) => {
    Object.assign(client, { onclose: resolve, onerror: () => {} }); // errors that belong to a request fail that request, so others are ignored
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    known = undefined;
  });
  guardAnswers(transport);
  // The library may send two requests, for two revisions of the protocol; the time limit is for both.
  const limit = AbortSignal.timeout(CONNECT_MS);
  await client
    .connect(transport, { signal: AbortSignal.any([signal, limit]), timeout: CONNECT_MS })
    .catch((error: unknown) => {
      throw limit.aborted && !signal.aborted
        ? new Error(`the server did not answer within ${CONNECT_MS / 1_000} s`)
        : error;
    });
  return {
    tools: async (stop, timeoutMs = LIST_MS) => {
      if (known) return known;
      const timeout = Math.min(LIST_MS, timeoutMs);
      const { tools } = await client.listTools(undefined, { signal: stop, timeout, cacheMode: "refresh" });
      return (known = tools.slice(0, MOST_TOOLS));
    },
    call: (name, args, options) => client.callTool({ name, arguments: args }, requestOptions(options)),
    client,
    closed,
    close: () => client.close(),
  };
}

/** Converts the options of a tool call to the options of the MCP library. */
export function requestOptions({ signal, timeoutMs, report }: CallOptions): RequestOptions {
  return {
    signal,
    timeout: timeoutMs,
    ...(report && { onprogress: ({ message }: Progress) => message !== undefined && report(`${message}\n`) }),
  };
}

/** An answer that the library refused as a whole. Without a usable id it may belong to any request. */
export class WrongAnswer extends Error {
  readonly id: string | number | undefined;

  constructor(id: string | number | undefined) {
    super(WRONG_ANSWER);
    this.id = id;
  }
}

const WRONG_ANSWER = "the server sent an answer that does not follow the MCP protocol";

/**
 * Fails a request at once if the library cannot read its answer; the library would wait until the time limit. The
 * library calls these functions before it reads a message or an error itself.
 */
function guardAnswers(transport: McpTransport): void {
  const open = new Set<string | number>();
  const send = transport.send.bind(transport);
  const fail = (id: string | number): void => {
    if (open.delete(id))
      transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: WRONG_ANSWER } });
  };
  Object.assign(transport, {
    send: ((message, options) => {
      if ("method" in message && "id" in message && message.id !== undefined) open.add(message.id);
      return send(message, options);
    }) satisfies McpTransport["send"],
    onmessage: (message: unknown) => {
      if (isRecord(message) && message["method"] === undefined) open.delete(message["id"] as string | number);
      mend(message);
    },
    onerror: (error: unknown) => {
      // Over HTTP, the library reports what its schema or the JSON parser says about an event of a stream.
      const isAnswer =
        error instanceof WrongAnswer || (error instanceof Error && /^(?:\$?ZodError|SyntaxError)$/.test(error.name));
      if (!isAnswer) return;
      const id = error instanceof WrongAnswer ? error.id : undefined;
      for (const each of id === undefined ? [...open] : [id]) fail(each);
    },
  });
}

const INTERNAL_ERROR = -32_603;

/**
 * Repairs a message of a server that the library would otherwise refuse as a whole: a tool without a name is removed, a
 * tool without a usable schema accepts any arguments, and content of an unknown kind is named.
 */
function mend(message: unknown): void {
  const result = isRecord(message) ? message["result"] : undefined;
  if (!isRecord(result)) return;
  if (isDeeplyNested(result)) {
    delete (message as Record<string, unknown>)["result"];
    Object.assign(message as object, {
      error: { code: INTERNAL_ERROR, message: `the answer of the server is ${TOO_DEEP_JSON}` },
    });
    return;
  }
  const { tools, content } = result;
  if (Array.isArray(tools)) Object.assign(result, { tools: tools.flatMap(mendedTool) });
  if (Array.isArray(content)) Object.assign(result, { content: content.map(mendedBlock) });
}

function mendedTool(tool: unknown): object[] {
  if (!isRecord(tool) || typeof tool["name"] !== "string" || tool["name"] === "") return [];
  const { inputSchema, outputSchema, description, annotations, ...rest } = tool;
  return [
    {
      ...rest,
      inputSchema: { ...(isRecord(inputSchema) && inputSchema), type: "object" },
      ...(isRecord(outputSchema) && { outputSchema }),
      ...(typeof description === "string" && { description }),
      ...(isRecord(annotations) && { annotations }),
    },
  ];
}

/** The fields that each kind of content in a result must have. */
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
  resource: [],
};

function mendedBlock(block: unknown): unknown {
  const kind = isRecord(block) && typeof block["type"] === "string" ? block["type"] : "unknown content";
  const wanted = Object.hasOwn(CONTENT, kind) ? CONTENT[kind] : undefined;
  const whole = isRecord(block) && wanted?.every((field) => typeof block[field] === "string");
  return whole && (kind !== "resource" || isRecord(block["resource"])) ? block : { type: "text", text: `[${kind}]` };
}
