import { version } from "../core/text/version.ts";

/** What is told about an agent that is offered: nothing of how it is made, where it lies or what it may do here. */
export type Card = Readonly<{ name: string; description: string; url: string; version: string; needsToken: boolean }>;

export function cardFor({ name, description }: Readonly<{ name: string; description: string }>, base: string): Card {
  const about = description.trim() || `The agent ${name}.`;
  return { name, description: about, url: `${base}/${encodeURIComponent(name)}`, version, needsToken: true };
}
