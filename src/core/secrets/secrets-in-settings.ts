import { looksSecret, passwordIn, SHORTEST_SECRET } from "./spellings.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The secrets in settings: keys and headers of providers and MCP servers, passwords in addresses, and the values of the
 * variables that a setting names for them (`apiKeyEnv: WORK`, `Authorization: Bearer ${WORK}`), whatever their names.
 */
export function secretsIn(settings: unknown, variables: Variables = {}): string[] {
  return [...new Set(found(settings, "", variables))].filter((secret) => secret.length >= SHORTEST_SECRET);
}

function found(value: unknown, name: string, variables: Variables): string[] {
  if (typeof value === "string") return secretsOf(value, name, variables);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.flatMap((item, at) => found(item, flagBefore(items, at) ?? name, variables));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => found(inner, key, variables));
}

function secretsOf(text: string, name: string, variables: Variables): string[] {
  if (NAMES_VARIABLE.test(name)) return [variables[text] ?? ""];
  const [, flag, given] = FLAG.exec(text) ?? [];
  if (flag !== undefined && given !== undefined) return secretsOf(given, flag, variables);
  return [...(looksSecret(name) ? filledIn(text, variables) : []), ...secretsOfAddress(text)];
}

/** The option before an argument, as in `["--token", "..."]`. */
function flagBefore(items: readonly unknown[], at: number): string | undefined {
  const before = items[at - 1];
  return typeof before === "string" && /^--?[\w-]+$/.test(before) ? before : undefined;
}

const NAMES_VARIABLE = /^(?:apiKeyEnv|keyEnv)$/;
const FLAG = /^(--?[\w-]+)=(.+)$/s;
const VARIABLE = /\$\{(?:env:)?(\w+)(?::-([^}]*))?\}|^\$(\w+)$/g;

/** The value of a secret setting with its variables filled in, and the values of these variables. */
function filledIn(text: string, variables: Variables): string[] {
  const values: string[] = [];
  const whole = text.replace(/^(?:Bearer|Basic|Token)\s+/i, "").replace(VARIABLE, (_, name, otherwise, short) => {
    const value = variables[String(name ?? short)] ?? String(otherwise ?? "");
    values.push(value);
    return value;
  });
  return [whole, ...values];
}

/** The password of an address, and the keys in its query. */
function secretsOfAddress(text: string): string[] {
  if (!URL.canParse(text)) return passwordIn(text);
  const keys = [...new URL(text).searchParams].filter(([name, value]) => looksSecret(name) && /\d/.test(value));
  return [...passwordIn(text), ...keys.map(([, value]) => value)];
}
