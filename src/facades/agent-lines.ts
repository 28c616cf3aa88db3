import type { AgentCard } from "../core/delegation/catalog.ts";
import { cutHead } from "../core/text/cut.ts";

/** Maximum size in bytes of one delegation tool's description: a model reads it in every turn. */
export const DESCRIPTION_BYTES = 8_000;

/** Lengths of each agent's description to try, from all of it down to only the name. */
const STEPS = [Number.POSITIVE_INFINITY, 400, 200, 100, 0];

export type AgentListLines = Readonly<{
  /**
   * Formats one agent in another form than a list item; returns an empty text to leave the agent out when space is
   * short.
   */
  line?(name: string, text: string): string;
  /** The text before and after the list. */
  before: string;
  after?: string;
  budget?: number;
}>;

/**
 * A description with a list of agents that stays within its maximum size: first descriptions are shortened, then agents
 * are left out.
 */
export function describeAgents(
  cards: readonly AgentCard[],
  { line = asItem, before, after = "", budget = DESCRIPTION_BYTES }: AgentListLines,
): string {
  const whole = (lines: readonly string[]): string =>
    [before, lines.length === 0 ? "(None is available right now.)" : lines.join("\n"), after]
      .filter((part) => part !== "")
      .join("\n");
  for (const chars of STEPS) {
    const text = whole(cards.map((card) => line(card.name, wordsOf(card, chars))));
    if (bytesOf(text) <= budget) return text;
  }
  let shown = cards.length;
  const some = (): string =>
    whole([
      ...cards.slice(0, shown).map(({ name }) => line(name, "")),
      `(${cards.length - shown} more agents can be started by their names)`,
    ]);
  while (shown > 0 && bytesOf(some()) > budget) shown = Math.floor(shown * 0.9);
  return some();
}

const asItem = (name: string, text: string): string => (text === "" ? `- ${name}` : `- ${name}: ${text}`);

/** The size of a text in bytes, as it is sent. */
export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The description in one line, marked if the agent is read-only. */
function wordsOf({ description, readOnly }: AgentCard, chars: number): string {
  const { text, cut } = cutHead(description.replace(/\s+/g, " ").trim(), chars);
  const mark = readOnly ? "[read-only]" : "";
  return [cut && text !== "" ? `${text.trimEnd()}…` : text, mark].filter((part) => part !== "").join(" ");
}
