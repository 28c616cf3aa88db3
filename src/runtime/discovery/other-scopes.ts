import { isInScope, type SourceScope } from "../../core/agent/source-scope.ts";
import type { FoundAgent } from "./discover-found.ts";
import { qualifiedNames } from "./find.ts";

/** An agent that is used under its plain name in another scope than the scope of the search. */
export type ScopedAgent = Readonly<{
  found: FoundAgent;
  /** The qualified name that selects this agent. */
  called: string;
  /** The scopes in which the plain name selects this agent. */
  scopes: readonly SourceScope[];
}>;

const SCOPES: readonly SourceScope[] = ["user", "project", "both"];

/**
 * The agents that a call with another scope uses instead of the agents that the search chose. `usable`: all agents that
 * can run, in order of precedence; `chosen`: the agents that the search chose, by name; `shadowed`: the agents that the
 * chosen agents shadow.
 */
export function otherScopes(
  usable: readonly FoundAgent[],
  { chosen, shadowed }: Readonly<{ chosen: ReadonlyMap<string, FoundAgent>; shadowed: readonly FoundAgent[] }>,
): readonly ScopedAgent[] {
  const lost = usable.filter((found) => chosen.get(found.name) !== found);
  if (lost.length === 0) return [];
  const names = new Set(lost.map(({ name }) => name));
  const isAmong = ({ name }: FoundAgent): boolean => names.has(name);
  const rivals = usable.filter(isAmong);
  const scopesOf = new Map<FoundAgent, SourceScope[]>();
  for (const scope of SCOPES) {
    const seen = new Set<string>();
    for (const found of rivals) {
      if (seen.has(found.name) || !isInScope(found.agent.source, scope)) continue;
      seen.add(found.name);
      if (chosen.get(found.name) !== found) scopesOf.set(found, [...(scopesOf.get(found) ?? []), scope]);
    }
  }
  const selects = new Map<string, FoundAgent>();
  const winners = [...chosen.values()].filter(isAmong);
  for (const found of [...winners, ...shadowed, ...scopesOf.keys()]) // the same order as in `findAgent`
    for (const name of qualifiedNames(found)) if (!selects.has(name)) selects.set(name, found);
  return [...scopesOf].flatMap(([found, scopes]) => {
    const called = qualifiedNames(found).find((name) => selects.get(name) === found);
    return called === undefined ? [] : [{ found, called, scopes }];
  });
}
