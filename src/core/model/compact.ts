import { cutHead } from "../text/cut.ts";
import { IMAGE_CHARS } from "./images.ts";
import type { Message } from "./model.ts";

/** The number of recent messages that a summary leaves as they are, if they fit. */
const KEEP_LAST = 6;
/** The length in characters to which a tool result is shortened at most. */
const MIN_RESULT_CHARS = 240;
const CHARS_PER_TOKEN = 3.5;

/** Estimates the tokens of a text; too high for prose, because program code has more tokens per character. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
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

/** The number of characters that are estimated as this number of tokens. */
export function charsOf(tokens: number): number {
  return Math.max(0, Math.floor(tokens * CHARS_PER_TOKEN));
}

/** The size of some messages in characters. */
export function totalChars(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageChars(message), 0);
}

/**
 * The messages that a summary replaces, and the recent messages that stay: at most six, and at most `chars` characters.
 * The last turn also stays if it fits once its results are shortened. The first message always stays. `undefined`: there
 * is nothing to summarise.
 */
export function splitForSummary(
  messages: readonly Message[],
  chars: number,
): { old: readonly Message[]; recent: readonly Message[] } | undefined {
  // Tool results stay with the tool calls that they answer.
  const starts = messages.flatMap(({ role }, at) => (at > 0 && role !== "tool" ? [at] : []));
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const size = (at: number): number =>
    at === last ? unshortenable(messages.slice(at)) : totalChars(messages.slice(at));
  const wanted = starts.findLast((at) => at <= messages.length - KEEP_LAST) ?? 1;
  const border = starts.find((at) => at >= wanted && size(at) <= chars) ?? messages.length - trailing(messages);
  return border <= 2 ? undefined : { old: messages.slice(1, border), recent: messages.slice(border) };
}

/** The number of user messages at the end of a conversation. */
function trailing(messages: readonly Message[]): number {
  return messages.length - 1 - messages.findLastIndex(({ role }) => role !== "user");
}

/** The size of messages whose long tool results are shortened as far as possible. */
function unshortenable(messages: readonly Message[]): number {
  return messages.reduce(
    (sum, message) =>
      sum +
      (message.role === "tool"
        ? message.results.reduce((each, { text }) => each + Math.min(text.length, MIN_RESULT_CHARS), 0)
        : messageChars(message)),
    0,
  );
}

/**
 * The length to which the longest of some texts are shortened so that all of them have at most `total` characters;
 * `undefined`: they fit.
 */
export function commonLength(lengths: readonly number[], total: number): number | undefined {
  let left = total;
  const sorted = lengths.toSorted((a, b) => a - b);
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.max(MIN_RESULT_CHARS, Math.floor(share));
    left -= length;
  }
  return undefined;
}

/** The first piece of a text: at most `chars` characters, of whole lines if possible. */
export function firstPiece(text: string, chars: number): string {
  const { text: head, cut } = cutHead(text, chars);
  const line = cut ? head.lastIndexOf("\n") + 1 : 0;
  return line > head.length / 2 ? head.slice(0, line) : head;
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
