import type { Agent } from "./agent.ts";

const SECRET = /key$|token|password|secret|value|credential/i;

/** A remote agent for display: references to secrets are kept, literal secrets are masked. */
export function maskAuth(remote: NonNullable<Agent["remote"]>): NonNullable<Agent["remote"]> {
  if (remote.auth === undefined) return remote;
  const shown = Object.entries(remote.auth).map(([name, value]) => [
    name,
    typeof value === "string" && SECRET.test(name) && !/^[$!]/.test(value) && !isUrl(value) ? "[in the file]" : value,
  ]);
  return { ...remote, auth: Object.fromEntries(shown) as Record<string, unknown> };
}

// a URL, such as that of a token endpoint, is not a secret
const isUrl = (value: string): boolean => /^https?:\/\//.test(value);
