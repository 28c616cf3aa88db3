import { IMAGE_CHARS } from "./images.ts";
import type { Message, ToolAnswer } from "./model.ts";

/** Number of recent messages that compaction never changes. */
const KEEP_LAST = 6;
/** The length in characters below which a tool result is not worth removing. */
const WORTH_CHARS = 400;

/** Estimates the tokens of a text; too high for prose, because program code has more tokens per character. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / 3.5);
}

/** The size of a message in characters. */
export function messageChars(message: Message): number {
  switch (message.role) {
    case "user":
      return message.text.length + IMAGE_CHARS * (message.images?.length ?? 0);
    case "assistant":
      return (
        message.text.length +
        message.calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.input ?? null).length, 0)
      );
    case "tool":
      return message.results.reduce(
        (sum, { text, images }) => sum + text.length + IMAGE_CHARS * (images?.length ?? 0),
        0,
      );
  }
}

/**
 * Step one of compaction: removes old tool results and keeps all text. The task and the last turns are never changed.
 */
export function dropOldResults(messages: readonly Message[]): Message[] {
  const border = messages.length - KEEP_LAST;
  return messages.map((message, index) => {
    if (message.role !== "tool" || index >= border) return message;
    const results = message.results.map((result) =>
      result.text.length < WORTH_CHARS && !result.images
        ? result
        : {
            ...withoutImages(result),
            text: `[${result.text.length} characters were removed to make room; call again if they are needed]`,
          },
    );
    return { role: "tool", results };
  });
}

const withoutImages = ({ images: _, ...result }: ToolAnswer): ToolAnswer => result;

/**
 * Step two of compaction: the messages to summarise, and the messages that stay; `undefined` when there is nothing to
 * summarise.
 */
export function splitForSummary(
  messages: readonly Message[],
): { task: Message; old: readonly Message[]; recent: readonly Message[] } | undefined {
  const task = messages[0];
  let border = messages.length - KEEP_LAST;
  // Tool results stay with the tool calls that they answer.
  while (border > 1 && messages[border]?.role === "tool") border -= 1;
  return task === undefined || border <= 2
    ? undefined
    : { task, old: messages.slice(1, border), recent: messages.slice(border) };
}

/** A conversation as text, for the model that summarises it. */
export function transcriptOf(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      if (message.role === "user")
        return [`user: ${message.text}`, ...(message.images ?? []).map(({ name }) => `showed the image ${name}`)].join(
          "\n",
        );
      if (message.role === "assistant")
        return [
          `assistant: ${message.text}`,
          ...message.calls.map((call) => `calls ${call.name} ${JSON.stringify(call.input)}`),
        ].join("\n");
      return message.results.map(({ name, text }) => `${name} gave: ${text}`).join("\n");
    })
    .join("\n\n");
}
