import { ALL_MCP_TOOLS } from "./tool-names.ts";

/** The data about an MCP server that are known without starting it. */
export type KnownServer = Readonly<{
  name: string;
  /** A description of the server in one line. */
  what: string;
  /** The tools of the server that may be used, if a list restricts them. */
  tools?: readonly string[];
  /**
   * Why the agent gets no tool of the server: the server is switched off, or the agent's list of servers does not
   * contain it.
   */
  shut?: "off" | "unlisted";
}>;

/** Tools of an MCP server as one name or pattern, such as `github__*`. Only the server knows which tools match. */
export type ServerPattern = Readonly<{ pattern: string; server?: KnownServer }>;

/**
 * The tools of MCP servers as far as they are known before the servers are started: a pattern for each server, the
 * tools in its list or in the agent's list, and listed tools of unknown servers.
 */
export function serverPatterns(servers: readonly KnownServer[], named: readonly string[]): ServerPattern[] {
  const written = [...new Set(named.filter(isOfServer))];
  const known = servers.flatMap((server) => {
    const own = written.filter((name) => isOf(name, server) && !name.endsWith("__*"));
    const all = server.tools?.map((tool) => `${server.name}__${tool}`) ?? [`${server.name}__*`];
    return [...new Set([...all, ...own])].map((pattern): ServerPattern => ({ pattern, server }));
  });
  const strange = written.filter((name) => !servers.some((server) => isOf(name, server)));
  return [...known, ...strange.map((pattern) => ({ pattern }))];
}

/** True for a name or pattern that means tools of one server. */
export const isOfServer = (name: string): boolean => name.includes("__") && name !== ALL_MCP_TOOLS;

const isOf = (name: string, { name: server }: KnownServer): boolean => name.startsWith(`${server}__`);
