import type { AgentSource } from "./agent.ts";

/** Whose agents are used: the user's, the project's, or both. */
export type SourceScope = "user" | "project" | "both";

/**
 * True if an agent from this source belongs to a scope. Bundled agents and agents given in code belong to every scope.
 */
export function isInScope(source: AgentSource | undefined, scope: SourceScope): boolean {
  const own = source?.kind === "plugin" ? source.pluginScope : source?.kind;
  return scope === "both" || (own !== "user" && own !== "project") || own === scope;
}
