import { takesImages } from "./images.ts";
import type { Message } from "./model.ts";

/** The messages for a model, without images if it does not take any. The text beside each image still describes it. */
export function messagesFor(id: string, messages: readonly Message[]): readonly Message[] {
  return takesImages(id) === false ? messages.map(withoutImages) : messages;
}

function withoutImages(message: Message): Message {
  if (message.role === "assistant") return message;
  if (message.role === "tool") return { ...message, results: message.results.map(({ images: _, ...rest }) => rest) };
  const { images, ...rest } = message;
  if (!images) return message;
  const names = images.map(({ name }) => name).join(", ");
  return { ...rest, text: `${rest.text}\n[Images left out, because this model does not accept images: ${names}]` };
}
