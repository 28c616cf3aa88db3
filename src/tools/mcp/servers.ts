import type { Agent } from "../../core/agent/agent.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import type { PeerAsk, PeerTools } from "../../core/task/mcp-tools.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import {
  couldUse,
  describeServer,
  type McpServer,
  type McpServers,
  wholeServer,
} from "../../core/vocabulary/mcp-server.ts";
import { MCP_PREFIX } from "../../core/vocabulary/tool-names.ts";
import { type Lazy, lazyServer, type ServerParts, type ServerOrigin } from "./lazy-server.ts";
import { hashText } from "./pins.ts";
import { serverTool } from "./tool.ts";
import { hasLongSchema, longSchemaText } from "../../core/task/peer-tool-text.ts";

/** The MCP servers of one run. A server is started when an agent may use it, and ends with the run. */
export function createServers(parts: ServerParts): PeerTools {
  const known = new Map<string, Lazy>();
  const over = new AbortController();
  /** The agents that were already told which servers their tool list leaves out; this is reported once per run. */
  const told = new Set<string>();
  const lazyFor = ({ name, definition, ...whose }: Named): Lazy => {
    const key = `${name} ${hashText(JSON.stringify([definition, whose]))}`;
    const server = known.get(key) ?? lazyServer(name, definition, { ...parts, ...whose, over: over.signal });
    known.set(key, server);
    return server;
  };
  return {
    toolsFor: async ({ agent, run, ceiling, isTrusted, say, note, signal }) => {
      const tools: Tool[] = [];
      if (!told.has(agent.name)) sayUnlisted(agent, parts.servers, { say, note });
      told.add(agent.name);
      for (const named of serversOf(agent, parts.servers)) {
        const { name, definition } = named;
        if (definition.enabled === false || !couldUse(agent, name)) continue;
        if (ceiling && !ceiling.some((tool) => tool.startsWith(`${MCP_PREFIX}${name}__`))) continue;
        const server = lazyFor(named);
        try {
          const offered = await server.pinned(run, AbortSignal.any([signal(), over.signal]));
          const wanted = offered.filter((tool) => definition.tools?.includes(tool.name) ?? true);
          for (const tool of wanted.filter(hasLongSchema)) say(longSchemaText(name, tool.name));
          const short = wanted.filter((tool) => !hasLongSchema(tool));
          tools.push(...short.map((tool) => serverTool(server, tool, { ...parts, isTrusted, say })));
        } catch (error) {
          if (isCrewError(error)) say(`${error.message} ${error.hint}`, error.code);
          else say(`The MCP server "${name}" (${describeServer(definition)}) could not be used: ${messageOf(error)}.`);
        }
      }
      return unique(tools, say);
    },
    end: async () => {
      if (known.size === 0) return; // no server was started, so none has to be stopped
      over.abort();
      await Promise.all([...known.values()].map((server) => server.end()));
    },
  };
}

/**
 * Reports the servers that an agent's tool list leaves out. The report is a note, because that may be intended, or a
 * warning if the agent itself names the server. Bundled agents are skipped.
 */
function sayUnlisted(agent: Agent, users: McpServers, { say, note }: Pick<PeerAsk, "say" | "note">): void {
  const { name: who, tools, disallowedTools, mcpServers: own = {}, source } = agent;
  if (tools === undefined || source?.kind === "bundled") return;
  const left = serversOf(agent, users)
    .filter(({ name, definition }) => definition.enabled !== false && couldUse(defined({ disallowedTools }), name))
    .map(({ name }) => name)
    .filter((name) => !couldUse(agent, name));
  for (const [names, tell] of [
    [left.filter((name) => Object.hasOwn(own, name)), say],
    [left.filter((name) => !Object.hasOwn(own, name)), note],
  ] as const)
    if (names.length > 0) tell(unlistedText(who, names));
}

const unlistedText = (agent: string, servers: readonly string[]): string =>
  `The agent "${agent}" has a list of tools that names nothing of the MCP ${servers.length === 1 ? "server" : "servers"} ${servers.join(", ")}. To let it use them, add ${servers.map((name) => `"${wholeServer(name)}"`).join(", ")} to its \`tools\`.`;

type Named = ServerOrigin & Readonly<{ name: string; definition: McpServer }>;

/**
 * The servers of an agent: the user's servers that it names and the servers that it defines, or all of the user's
 * servers. An agent of a plugin cannot define servers. A name in the user's settings takes precedence over the same
 * name in an agent.
 */
export function serversOf({ mcpServers: own, source }: Agent, users: McpServers): readonly Named[] {
  const all = Object.entries(users).map(
    ([name, definition]): Named => ({
      name,
      definition,
      users: true,
      listed: true,
    }),
  );
  if (own === undefined) return all;
  const brought = Object.entries(own).flatMap(([name, definition]): Named[] =>
    definition === true || Object.hasOwn(users, name) || source?.kind === "plugin"
      ? []
      : [{ name, definition, users: source?.kind !== "project", listed: false }],
  );
  return [...all.filter(({ name }) => Object.hasOwn(own, name)), ...brought];
}

/** Removes every tool whose name an earlier tool already has, with a warning. */
function unique(tools: readonly Tool[], say: (text: string) => void): readonly Tool[] {
  const names = new Map<string, Tool>();
  for (const tool of tools) {
    if (names.has(tool.name)) say(`Two MCP tools have the name "${tool.name}"; the second is left out.`);
    else names.set(tool.name, tool);
  }
  return [...names.values()];
}
