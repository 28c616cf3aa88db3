import type { FaultyTurn, SpokenTurn, StatusFault } from "./provider-turn.ts";

export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "google";

/**
 * The protocol of one provider, as the simulated provider speaks it: reads requests, and writes an answer as a stream
 * of events or as a whole.
 */
export type ProviderDialect = Readonly<{
  name: WireName;
  matches(path: string): boolean;
  /** The requested model, and whether the answer is to be streamed. */
  asks(body: Readonly<Record<string, unknown>>, path: string): Readonly<{ model: string; stream: boolean }>;
  /** An answer as server-sent events, each complete. */
  events(turn: SpokenTurn, about: AnswerFacts): string[];
  whole(turn: SpokenTurn, about: AnswerFacts): unknown;
  /** The body of a response that is an error. */
  error(fault: StatusFault): unknown;
  /** An error inside of a stream. */
  errorEvent(turn: FaultyTurn): string;
}>;

/** The metadata of an answer. `n` makes ids unique. */
export type AnswerFacts = Readonly<{ model: string; n: number }>;

/** The text of one event without a name. */
export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

/** The text of one event with its name. */
export const named = (type: string, value: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`;
