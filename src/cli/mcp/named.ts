import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import type { Crew } from "../../crew/crew-type.ts";

/** The server in the settings with this name. */
export function serverNamed(name: string, { settings }: Crew): McpServer {
  const servers = settings.config.mcpServers ?? {};
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server !== undefined) return server;
  const names = Object.keys(servers);
  throw new CrewError(
    "BAD_INPUT",
    name === "" ? "No MCP server given." : `Unknown MCP server "${name}".`,
    names.length === 0 ? NONE_YET : suggestion(name, names, "Known servers"),
  );
}

const NONE_YET =
  "No MCP servers are configured: `subcrew mcp import` imports those of other programs; add your own under `mcpServers` in the settings.";
