import { version } from "../core/text/version.ts";

/** The public card of an agent: without its prompt, its file path or its permissions. */
export type Card = Readonly<{
  name: string;
  description: string;
  url: string;
  version: string;
  needsToken: boolean;
  /** The address of the keys that the card is signed with. */
  keysUrl: string;
}>;

/** The path of the keys with which cards are signed. */
export const KEYS_PATH = ".well-known/jwks.json";

export function cardFor({ name, description }: Readonly<{ name: string; description: string }>, base: string): Card {
  const about = description.trim() || `The agent ${name}.`;
  return {
    name,
    description: about,
    url: `${base}/${encodeURIComponent(name)}`,
    version,
    needsToken: true,
    keysUrl: `${base}/${KEYS_PATH}`,
  };
}
