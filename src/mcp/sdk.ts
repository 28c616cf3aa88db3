import type {
  CallToolResult,
  ClientCapabilities,
  InputRequests,
  InputRequiredResult,
  McpRequestContext,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import { CrewError } from "../core/schema/error.ts";

/** The MCP library; only this file names it, and it is loaded when a server starts. */
export type Sdk = typeof import("@modelcontextprotocol/server") &
  Pick<typeof import("@modelcontextprotocol/server/stdio"), "serveStdio" | "StdioServerTransport">;

/** The request of a client, and how to reply while it is handled. */
export type CallContext = ServerContext;
export type CallResult = CallToolResult;
export type Capabilities = ClientCapabilities;
export type Era = McpRequestContext["era"];
export type NeedsInput = InputRequiredResult;
export type Questions = InputRequests;
export type ProtocolServer = Server;

export async function loadSdk(): Promise<Sdk> {
  try {
    const [server, stdio] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("@modelcontextprotocol/server/stdio"),
    ]);
    return { ...server, serveStdio: stdio.serveStdio, StdioServerTransport: stdio.StdioServerTransport };
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "Serving MCP needs the package @modelcontextprotocol/server.",
      "Install the package: npm install @modelcontextprotocol/server",
      { cause },
    );
  }
}
