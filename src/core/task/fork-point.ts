import type { Message, ModelRequest, ToolSpec } from "../model/model.ts";

/**
 * A conversation from which subagents can start, exactly as it is sent to the model. A request that begins with the
 * same bytes is read from the provider's cache.
 */
export type ForkPoint = Readonly<{
  /** The task that had the conversation, as `run/path`, and how many of its turns belong to the fork. */
  task: string;
  turn: number;
  /** The agent of the task that had the conversation. */
  agent: string;
  /** The name by which the same model is chosen again. */
  model: string;
  tools: readonly ToolSpec[];
  messages: readonly Message[];
  prefix: NonNullable<ModelRequest["prefix"]>;
}> &
  Pick<ModelRequest, "system" | "thinking" | "temperature" | "topP">;

/**
 * The answer to a tool call that was running at the fork; it is the same for all subagents, so that they share the
 * cached text.
 */
const ELSEWHERE = "This call is answered in the original conversation.";

/**
 * The messages that a forked subagent starts with. Every tool call has an answer, and a mark shows up to which message
 * the provider's cache holds the request.
 */
export function forkedMessages({ messages }: Pick<ForkPoint, "messages">): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const marked = messages.map((message, at): Message => {
    if (message.role === "assistant") return message;
    const { cacheMark: _before, ...plain } = message;
    return at === last - 1 ? { ...plain, cacheMark: true } : plain;
  });
  const open = messages.at(-1);
  if (open?.role !== "assistant" || open.calls.length === 0) return marked;
  const results = open.calls.map(({ id, name }) => ({ id, name, text: ELSEWHERE, error: false }));
  return [...marked, { role: "tool", results }];
}
