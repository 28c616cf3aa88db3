import type { AgentSource } from "../../core/agent/agent.ts";
import { type Preset, presets } from "./sources.ts";

/** The properties of an agent that a lookup needs. */
export type Findable = Readonly<{
  name: string;
  agent?: Readonly<{ source?: AgentSource }>;
  read?: Readonly<{ aliases?: readonly string[] }>;
}>;

type Where<F> =
  | {
      readonly agents: readonly F[];
      readonly shadowed: readonly { readonly found: F }[];
      readonly otherScopes?: readonly { readonly found: F }[];
      readonly unlisted?: readonly F[];
    }
  | readonly F[];

/**
 * The agent of exactly this name. A qualified name (`bundled:explore`, `user:x`, `project:x`, `claude:x`, `<plugin>:x`)
 * selects a particular definition; in a complete search result, also a shadowed definition or a definition of another
 * scope. No other agent can take such a name.
 */
export function findAgent<F extends Findable>(where: Where<F>, name: string): F | undefined {
  const agents: readonly F[] = "agents" in where ? where.agents : where;
  const unlisted = "agents" in where ? where.unlisted?.find((found) => goesBy(found, name)) : undefined;
  return (
    qualified(where, name) ??
    agents.find((found) => found.name === name) ??
    agents.find(({ read }) => read?.aliases?.includes(name)) ??
    unlisted
  );
}

function qualified<F extends Findable>(where: Where<F>, name: string): F | undefined {
  const colon = name.indexOf(":");
  if (colon <= 0) return undefined;
  const agents: readonly F[] = "agents" in where ? where.agents : where;
  const hidden = "agents" in where ? [...where.shadowed, ...(where.otherScopes ?? [])] : [];
  const unlisted = "agents" in where ? (where.unlisted ?? []) : [];
  const [prefix, own] = [name.slice(0, colon), name.slice(colon + 1)];
  const all = [...agents, ...hidden.map(({ found }) => found), ...unlisted].filter((found) => goesBy(found, own));
  return all.find((found) => isFrom(found, prefix)) ?? all.find((found) => isOfPreset(found, prefix));
}

/** True for an agent of the bundled crew that this preset has, too, such as `omp:reviewer`. */
const isOfPreset = ({ name, agent }: Findable, prefix: string): boolean =>
  agent?.source?.kind === "bundled" &&
  Object.hasOwn(presets, prefix) &&
  ((presets as Readonly<Record<string, Preset>>)[prefix]!.bundled?.includes(name) ?? false);

/** The same function as `findAgent`, under the name that the documentation of `subcrew/agents` uses. @alias */
export const getAgent = findAgent;

/** Every name that selects this agent and no other, the shortest first. */
export function qualifiedNames({ name, agent }: Findable): readonly string[] {
  const { plugin, family, kind } = agent?.source ?? {};
  const prefixes = [plugin, family, kind].filter((prefix) => prefix !== undefined);
  return [...new Set(prefixes)].map((prefix) => `${prefix}:${name}`);
}

const goesBy = (found: Findable, name: string): boolean =>
  found.name === name || (found.read?.aliases?.includes(name) ?? false);

function isFrom({ agent }: Findable, prefix: string): boolean {
  const source = agent?.source;
  return source !== undefined && (source.kind === prefix || source.family === prefix || source.plugin === prefix);
}
