/** The shortest secret; shorter values are not treated as secrets: they would match harmless words. */
export const SHORTEST_SECRET = 8;

/** All spellings in which a secret value may occur in a text. */
export function spellingsOf(secret: string): string[] {
  const values = new Set([secret, secret.trim(), ...longLines(secret)]);
  const forms = [...values].filter((value) => value.length >= SHORTEST_SECRET).flatMap(spellings);
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST_SECRET);
}

/** The secret values of an environment: the values of variables with telling names, and the passwords inside URLs. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value.length < SHORTEST_SECRET) return [];
    return [...(isSecret(name, value) ? [value] : []), ...passwordIn(value)];
  });
  return [...new Set(values)];
}

/** True when a variable of this name is likely to hold a secret. */
export function looksSecret(name: string): boolean {
  const words = wordsOf(name);
  return !NOT_SECRET.test(words.join("_")) && words.some((word) => TELLING.has(word));
}

const TELLING: ReadonlySet<string> = new Set(
  "KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASSWORD PASSWD PASSPHRASE PASS PWD PW CREDENTIAL CREDENTIALS CREDS AUTH AUTHORIZATION BEARER COOKIE PRIVATE DSN PAT".split(
    " ",
  ),
);
/** Variables that hold a path instead of a secret. */
const NOT_SECRET = /^(?:OLD)?PWD$|^XAUTHORITY$|_(?:SOCK|SOCKET|FILE|PATH|DIR|HOME|BASE)$/i;

function isSecret(name: string, value: string): boolean {
  if (!looksSecret(name)) return false;
  // Unless the last word of a variable's name indicates a secret, its value must look like one: TOKEN_TYPE=standard is
  // a harmless setting.
  return TELLING.has(wordsOf(name).at(-1) ?? "") || value.length >= 20 || /\d|[a-z][A-Z]|[^A-Za-z0-9_.-]/.test(value);
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+|(?<=[A-Z])\d+$/)
    .filter((word) => word !== "");

/** The password in an address, both as written and decoded. */
export function passwordIn(value: string): string[] {
  const written = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]*:([^\s/?#@]{8,})@/i.exec(value)?.[1];
  return written === undefined ? [] : [written, decoded(written)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The lines of a key with several lines: each is searched separately, because an editor or a log may indent them. */
function longLines(secret: string): string[] {
  return secret.includes("\n") ? secret.split(/\s*\n\s*/).filter((line) => line.length >= 16) : [];
}

function spellings(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const percent = encodeURIComponent(wellFormed(value));
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replaceAll("%20", "+"),
    value.replaceAll(" ", "+"),
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Core(bytes, before)),
  ];
}

/** Replaces lone surrogates, which cannot be percent-encoded. */
const wellFormed = (text: string): string => text.replace(/[\ud800-\udfff]/gu, "\ufffd");

/**
 * The characters of a base64 text that depend only on the bytes of the secret when `before` other bytes precede them:
 * `user:` before a password shifts the encoding.
 */
function base64Core(bytes: Uint8Array, before: number): string[] {
  const shifted = new Uint8Array(before + bytes.length);
  shifted.set(bytes, before);
  let binary = "";
  for (const byte of shifted) binary += String.fromCharCode(byte);
  const whole = btoa(binary).slice(Math.ceil((before * 8) / 6), Math.floor((shifted.length * 8) / 6));
  return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
}
