/** Offers the agents of a crew to MCP clients. */
export {
  type HttpOptions as McpHttpOptions,
  type HttpServing as McpHttpServing,
  serveHttp as serveMcpHttp,
} from "../mcp/http.ts";
export { serveStdio as serveMcpStdio, type StdioOptions as McpStdioOptions } from "../mcp/stdio.ts";
export type { OfficeOptions as McpRules } from "../mcp/office.ts";
export type { McpServer, McpServers } from "../core/vocabulary/mcp-server.ts";
