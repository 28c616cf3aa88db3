import { ALL_MCP_TOOLS } from "./tool-names.ts";

/** An MCP server as it is listed, without starting it. */
export type KnownServer = Readonly<{
  name: string;
  /** A description in one line. */
  what: string;
  /** The tools of it that count, where a list says so. */
  tools?: readonly string[];
  /** The agent gets nothing of it: the server is switched off, or the agent has a list of servers without it. */
  shut?: "off" | "unlisted";
}>;

/** Tools of a server under one name or pattern, `github__*`. Which ones those are, only the server knows. */
export type ServerPattern = Readonly<{ pattern: string; server?: KnownServer }>;

/**
 * What can be said of the tools of servers before any was asked: a pattern for each server, the tools that its list or the
 * agent's names, and what is named of servers that nobody knows.
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
