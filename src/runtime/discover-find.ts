import type { Discovery, FoundAgent } from "./discover.ts";

type Where = Pick<Discovery, "agents" | "shadowed"> | readonly FoundAgent[];

/**
 * The agent of that name, exactly. A qualified name (`bundled:explore`, `user:x`, `project:x`, `claude:x`,
 * `<plugin>:x`) reaches a particular one, also when another stands before it.
 */
export function findAgent(where: Where, name: string): FoundAgent | undefined {
  const agents: readonly FoundAgent[] = "agents" in where ? where.agents : where;
  const exact = agents.find((found) => found.name === name);
  if (exact !== undefined) return exact;
  const all = "agents" in where ? [...where.agents, ...where.shadowed.map(({ found }) => found)] : agents;
  const colon = name.indexOf(":");
  const qualified = colon <= 0 ? undefined : all.find((found) => goesBy(found, name.slice(colon + 1)) && isFrom(found, name.slice(0, colon)));
  return qualified ?? agents.find(({ read }) => read.aliases?.includes(name));
}

/** The same lookup under system 000's name. */
export const getAgent = findAgent;

/** Every name that reaches this agent and no other, the shortest first. */
export function qualifiedNames({ name, agent: { source } }: FoundAgent): readonly string[] {
  const prefixes = [source?.plugin, source?.family, source?.kind].filter((prefix) => prefix !== undefined);
  return [...new Set(prefixes)].map((prefix) => `${prefix}:${name}`);
}

const goesBy = (found: FoundAgent, name: string): boolean => found.name === name || (found.read.aliases?.includes(name) ?? false);

function isFrom({ agent: { source } }: FoundAgent, prefix: string): boolean {
  if (source === undefined) return false;
  return source.kind === prefix || source.family === prefix || source.plugin === prefix;
}
