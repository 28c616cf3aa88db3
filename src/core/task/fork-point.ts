import type { Message, ModelRequest, ToolSpec } from "../model/model.ts";

/**
 * A conversation from which helpers can start, exactly as it is sent to the model: a request that begins with the same
 * bytes is read from the provider's cache.
 */
export type ForkPoint = Readonly<{
  /** The task whose conversation it is, as `run/path`, and how many turns of it count. */
  task: string;
  turn: number;
  /** The agent of that task. */
  agent: string;
  /** The name that resolves to its model again. */
  model: string;
  tools: readonly ToolSpec[];
  messages: readonly Message[];
  prefix: NonNullable<ModelRequest["prefix"]>;
}> &
  Pick<ModelRequest, "system" | "thinking" | "temperature" | "topP">;

/** The answer to a call that was under way at the fork; the same for all helpers, so that they share it. */
const ELSEWHERE = "This call is answered in the original conversation.";

/**
 * The messages that a helper starts with: every call has an answer, and the end of the request that is in the provider's
 * cache bears the mark.
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
