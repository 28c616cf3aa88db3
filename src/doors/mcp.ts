/** Offers the agents of a crew to MCP clients. */

export type { McpServer, McpServers } from "../core/vocabulary/mcp-server.ts";
export {
  type HttpOptions as McpHttpOptions,
  type HttpServing as McpHttpServing,
  serveHttp as serveMcpHttp,
} from "../mcp/http.ts";
export type { ServerContextOptions as McpRules } from "../mcp/server-context.ts";
export { type StdioOptions as McpStdioOptions, serveStdio as serveMcpStdio } from "../mcp/stdio.ts";
