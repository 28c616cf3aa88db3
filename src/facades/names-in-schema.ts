import type { AgentCard } from "../core/delegation/catalog.ts";

/** More names than these are not repeated in a schema; the description has room for them, or says that there are more. */
const MOST_NAMES = 200;

/** The enum in a schema, which models read and nobody enforces: an agent that came later can be called, too. */
export function agentNameSchema(cards: readonly AgentCard[]): Record<string, unknown> {
  return cards.length === 0 || cards.length > MOST_NAMES ? {} : { enum: cards.map(({ name }) => name) };
}
