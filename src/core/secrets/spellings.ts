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

/** The value as text, in JSON and in forms, and its bytes as hexadecimal digits, as numbers and in base64. */
function spellings(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const wide = Uint8Array.from(Array.from({ length: 2 * value.length }, (_, at) => unitByte(value, at)));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll(" ", "+"),
    hex,
    hex.toUpperCase(),
    bytes.join(","),
    ...[bytes, wide].flatMap((each) => [0, 1, 2].flatMap((before) => base64Core(each, before))),
  ];
}

/** A byte of the text in UTF-16, as other systems write it. */
const unitByte = (text: string, at: number): number => (text.charCodeAt(at >> 1) >> (at % 2 === 0 ? 0 : 8)) & 255;

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
