import type { Message } from "./model.ts";

/** The last messages that are never touched: what the model is working on right now. */
const KEEP_LAST = 6;
/** Results shorter than this are not worth removing. */
const WORTH_CHARS = 400;

/** Roughly how many tokens a text takes; on the safe side for code. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / 3.5);
}

/** The size of a message in characters. */
export function messageChars(message: Message): number {
  switch (message.role) {
    case "user":
      return message.text.length;
    case "assistant":
      return (
        message.text.length +
        message.calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.input ?? null).length, 0)
      );
    case "tool":
      return message.results.reduce((sum, { text }) => sum + text.length, 0);
  }
}

/** The first step: old tool results go, everything that was said stays. The task and the last turns are never touched. */
export function dropOldResults(messages: readonly Message[]): Message[] {
  const border = messages.length - KEEP_LAST;
  return messages.map((message, index) => {
    if (message.role !== "tool" || index >= border) return message;
    const results = message.results.map((result) =>
      result.text.length < WORTH_CHARS
        ? result
        : {
            ...result,
            text: `[${result.text.length} characters were removed to make room; call again if they are needed]`,
          },
    );
    return { role: "tool", results };
  });
}

/** The second step: what a summary would stand for, and what stays around it; `undefined` when there is nothing to sum up. */
export function splitForSummary(
  messages: readonly Message[],
): { task: Message; old: readonly Message[]; recent: readonly Message[] } | undefined {
  const task = messages[0];
  let border = messages.length - KEEP_LAST;
  // Results stay with the calls that they answer.
  while (border > 1 && messages[border]?.role === "tool") border -= 1;
  return task === undefined || border <= 2
    ? undefined
    : { task, old: messages.slice(1, border), recent: messages.slice(border) };
}

/** A conversation as text, for whoever sums it up. */
export function transcriptOf(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      if (message.role === "user") return `user: ${message.text}`;
      if (message.role === "assistant")
        return [
          `assistant: ${message.text}`,
          ...message.calls.map((call) => `calls ${call.name} ${JSON.stringify(call.input)}`),
        ].join("\n");
      return message.results.map(({ name, text }) => `${name} gave: ${text}`).join("\n");
    })
    .join("\n\n");
}
