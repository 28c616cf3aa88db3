import { version } from "../core/text/version.ts";

/** The public description of an agent (its A2A agent card): without its prompt, its file path or its permissions. */
export type Card = Readonly<{
  name: string;
  description: string;
  url: string;
  version: string;
  needsToken: boolean;
  /** The URL of the public keys that verify the card's signature. */
  keysUrl: string;
}>;

/** The path at which the server publishes the keys that verify its cards. */
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
