import { LETTER, LETTER_OR_MARK, namePattern } from "../text/name-characters.ts";
import { lookAlikeOf } from "../text/name-characters.ts";
import { nearest } from "../text/nearest.ts";

/** The pattern of agent names: letters and digits of every script. A file format may be stricter for its own files. */
export const AGENT_NAME = namePattern(LETTER, `${LETTER_OR_MARK}_.:\\-`, 64);

/**
 * Matches names of ASCII characters without blanks, all of which match `AGENT_NAME`, too. The test of `AGENT_NAME` is
 * slow, and nearly every name is such a name.
 */
const PLAIN_NAME = /^[A-Za-z0-9][\w.:-]{0,63}$/;

/**
 * Names that mean the main agent or a subagent in a conversation. They cannot be names of agents, in upper or lower
 * case.
 */
const RESERVED: ReadonlySet<string> = new Set(["main", "sub"]);

/** Why an agent cannot have this name, or `undefined` when it can. */
export function nameFault(name: string, rule: RegExp = AGENT_NAME): "bad-name" | "reserved-name" | undefined {
  if (!(rule === AGENT_NAME && PLAIN_NAME.test(name)) && !rule.test(name)) return "bad-name";
  return RESERVED.has(name.toLowerCase()) ? "reserved-name" : undefined;
}

/** The input name that a caller of a delegation tool could not set, because the tool itself uses it. */
export const RESERVED_INPUT = "agent_name";

/** The agent that a person most likely meant by a mistyped name; names with a prefix are offered too. */
export function nearestName(name: string, agents: Iterable<{ readonly name: string }>): string | undefined {
  const names = [...agents].map((agent) => agent.name);
  return lookAlikeOf(name, names) ?? nearest(name, names);
}
