import { version } from "../core/text/version.ts";

/** The public description of an agent (its A2A agent card): without its prompt, its file path or its permissions. */
export type Card = Readonly<{
  name: string;
  description: string;
  url: string;
  version: string;
  needsToken: boolean;
}>;

export function cardFor({ name, description }: Readonly<{ name: string; description: string }>, base: string): Card {
  const about = description.trim() || `The agent ${name}.`;
  return {
    name,
    description: about,
    url: `${base}/${encodeURIComponent(name)}`,
    version,
    needsToken: true,
  };
}
