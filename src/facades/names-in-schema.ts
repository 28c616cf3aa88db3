import type { AgentCard } from "../core/delegation/catalog.ts";

/** The maximum number of names in a schema; the description lists more of them or says that there are more. */
const MOST_NAMES = 200;

/**
 * The schema of an agent's name. Its enum is only a hint for models and is not enforced: agents that are added later
 * can be called, too.
 */
export function agentNameSchema(cards: readonly AgentCard[]): Record<string, unknown> {
  return cards.length === 0 || cards.length > MOST_NAMES ? {} : { enum: cards.map(({ name }) => name) };
}
