import { isRecord } from "../text/json.ts";
import type { ConfigPath } from "./config.ts";

/** What is shown in place of a secret. */
export const HIDDEN_VALUE = "(hidden)";

/**
 * A setting as it is printed in lists: keys, tokens, passwords, headers and environment variables are masked at any
 * depth.
 */
export function maskSecrets(value: unknown, path: ConfigPath): unknown {
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskSecrets(inner, [...path, key])]));
  if (typeof value !== "string" && !Array.isArray(value)) return value;
  if (isSecretPath(path)) return HIDDEN_VALUE;
  if (typeof value === "string") return maskAddress(value);
  return value.map((item: unknown, index) => {
    const before: unknown = value[index - 1];
    if (typeof item !== "string") return maskSecrets(item, path);
    if (typeof before === "string" && SECRET_FLAG.test(before) && !item.startsWith("-")) return HIDDEN_VALUE;
    return maskAddress(item.replace(FLAG_WITH_SECRET, `$1${HIDDEN_VALUE}`));
  });
}

/** True for a setting that may hold a key or a password. */
export function isSecretPath(path: ConfigPath): boolean {
  const last = path.at(-1) ?? "";
  const above = path.slice(0, -1);
  return last === "engine" || SECRET_NAME.test(last) || path.includes("headers") || above.includes("env");
}

const WORDS = "api[-_]?key|access[-_]?key|private[-_]?key|token|secret|passw(?:or)?d|authorization|credentials?|cookie";
const SECRET_NAME = new RegExp(`^(?:key|.*(?:${WORDS}))$`, "i");
const SECRET_FLAG = new RegExp(`^--?[\\w-]*(?:${WORDS})$`, "i");
const FLAG_WITH_SECRET = new RegExp(`^((?:--?)?[\\w-]*(?:${WORDS})\\s*[=:]\\s*).+$`, "is");

/** Masks the password in an address (`https://name:password@host`), and keys in its query. */
const maskAddress = (text: string): string =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#]+@/gi, `$1${HIDDEN_VALUE}@`)
    .replace(QUERY_SECRET, `$1${HIDDEN_VALUE}`);
const QUERY_SECRET = new RegExp(`([?&](?:key|[\\w-]*(?:${WORDS}))=)[^&#\\s]+`, "gi");
