import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import type { Crew } from "../../crew.ts";

/** The server of the settings that a person means. */
export function serverNamed(name: string, { settings }: Crew): McpServer {
  const servers = settings.config.mcpServers ?? {};
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server !== undefined) return server;
  const names = Object.keys(servers);
  throw new CrewError(
    "BAD_INPUT",
    name === "" ? "No server was named." : `There is no server "${name}".`,
    names.length === 0 ? NONE_YET : suggestion(name, names, "Servers are"),
  );
}

const NONE_YET =
  "None is known yet: `subcrew mcp import` takes over those of other tools, and your own go into `mcpServers` of the settings.";
