import type { Agent } from "./agent.ts";

const SECRET = /key$|token|password|secret|value|credential/i;

/** A remote agent as it can be shown: where its secrets come from stays, a secret that stands in the file itself does not. */
export function maskAuth(remote: NonNullable<Agent["remote"]>): NonNullable<Agent["remote"]> {
  if (remote.auth === undefined) return remote;
  const shown = Object.entries(remote.auth).map(([name, value]) => [
    name,
    typeof value === "string" && SECRET.test(name) && !/^[$!]/.test(value) && !isUrl(value) ? "[in the file]" : value,
  ]);
  return { ...remote, auth: Object.fromEntries(shown) as Record<string, unknown> };
}

const isUrl = (value: string): boolean => /^https?:\/\//.test(value); // as of a token's endpoint
