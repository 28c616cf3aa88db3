import type { McpServer, McpServers } from "../core/vocabulary/mcp-server.ts";
import type { EditorServer } from "./sdk.ts";

/**
 * Converts the MCP servers of an editor to the format of subcrew's settings. Servers with the old SSE transport are
 * left out, because it is not supported.
 */
export function editorServers(servers: readonly EditorServer[]): McpServers {
  const known = servers.flatMap((server): [string, McpServer][] => {
    const name = server.name.replace(/[^A-Za-z0-9.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
    if ("command" in server)
      return [[name, { command: server.command, args: [...server.args], env: fieldsOf(server.env) }]];
    return "type" in server && server.type === "http"
      ? [[name, { url: server.url, headers: fieldsOf(server.headers) }]]
      : [];
  });
  return Object.fromEntries(known);
}

const fieldsOf = (pairs: readonly Readonly<{ name: string; value: string }>[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
