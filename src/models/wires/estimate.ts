import type { Message, ModelRequest, TurnUsage } from "../../core/model/model.ts";

/** Estimated tokens of a turn for which the provider sent no usage: one per four characters. */
export function estimatedUsage({ system, messages, tools }: ModelRequest, answer: string): TurnUsage {
  const asked = messages.reduce((chars, message) => chars + sizeOf(message), system.length + written(tools).length);
  return { input: tokens(asked), output: tokens(answer.length) };
}

const tokens = (chars: number): number => Math.ceil(chars / 4);

function sizeOf(message: Message): number {
  switch (message.role) {
    case "user":
      return message.text.length;
    case "assistant":
      return message.text.length + written(message.calls).length;
    case "tool":
      return message.results.reduce((chars, { text }) => chars + text.length, 0);
  }
}

/** A list as JSON text; empty for an empty list. */
export function written(list: readonly unknown[]): string {
  return list.length === 0 ? "" : JSON.stringify(list);
}
