import { privateKeyAt } from "./private-key.ts";

/**
 * A kind of secret: the first three characters that such a secret may have, and a function that finds one at a position
 * of a text.
 */
export type SecretPattern = Readonly<{
  begins: readonly string[];
  find(text: string, at: number): SecretMatch | undefined;
}>;

/** A found secret: its length, and the lengths of its beginning and its end that stay visible. */
export type SecretMatch = Readonly<{ length: number; before: number; after: number }>;

/**
 * Matches the position before the name of a secret: no letter may directly precede the name, except in an escaped line
 * end (`\n`).
 */
const START = "(?:(?<![A-Za-z0-9_])|(?<=\\\\[nrt]))";
/** A value of letters only is prose, not a secret: `sk-learn-pipelines`, `Bearer authentication`. */
const HAS_DIGIT = "(?=[A-Za-z_.~+/=-]{0,60}\\d)";
/** Matches the separator between the name of a header and its value, including separators in escaped JSON. */
const IS = "[\"'\\\\]{0,3}\\s{0,4}[:=]\\s{0,4}[\"'\\\\]{0,3}";
const SCHEME = "(?:[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest)\\s{1,4}";
/** Characters that cannot occur in the user part of a URL. */
const NO_LOGIN = "\\s/?#@\"'<>\\\\`";

const letters = Array.from("abcdefghijklmnopqrstuvwxyz");

/**
 * The kinds of secrets that are recognised by their form. Every repetition is bounded, so matching takes linear time.
 */
export const secretPatterns: readonly SecretPattern[] = [
  row(["sk-", "sk_", "pk_", "rk_", "xai", "gsk"], `(?:[spr]k|xai|gsk)[-_]${HAS_DIGIT}[A-Za-z0-9_-]{16,4000}`),
  row(["ghp", "gho", "ghu", "ghs", "ghr"], "gh[pousr]_[A-Za-z0-9]{20,255}"),
  row(["git", "glp"], "(?:github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{16,255})"),
  row(["AKI", "ASI"], "(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
  row(["xox", "xap"], "(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,255}"),
  row(["AIz", "ya2"], "(?:AIza[A-Za-z0-9_-]{30,255}|ya29\\.[A-Za-z0-9_-]{20,4000})"),
  row(
    ["npm", "hf_", "dop", "tvl", "pyp", "shp", "lin", "sbp"],
    `(?:npm_|hf_|dop_v1_|tvly-|pypi-|shpat_|lin_api_|sbp_)${HAS_DIGIT}[A-Za-z0-9_-]{20,255}`,
  ),
  row(["SG."], "SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}"),
  row(["eyJ"], "(?<!-)eyJ[A-Za-z0-9_-]{8,4000}\\.[A-Za-z0-9_-]{8,8000}\\.[A-Za-z0-9_-]{0,4000}"),
  row(["Bea", "bea"], `(?<before>[Bb]earer\\s{1,4})${HAS_DIGIT}[A-Za-z0-9._~+/=-]{16,8000}`),
  row(
    ["Aut", "aut", "AUT"],
    `(?<before>(?:[Aa]uthorization|AUTHORIZATION)${IS}${SCHEME})[^\\s"'\\\\,}]{6,8000}`,
    "(?<![A-Za-z0-9_])",
  ),
  row(
    ["api", "Api", "API", ...letters.flatMap((letter) => [`x-${letter}`, `X-${letter}`, `X-${letter.toUpperCase()}`])],
    `(?<before>(?:[Xx]-(?:[A-Za-z]{1,16}-){0,3}(?:[Kk]ey|[Tt]oken)|(?:api|Api|API)[-_]?(?:[Kk]ey|KEY))${IS})${HAS_DIGIT}[A-Za-z0-9_.-]{16,4000}`,
    "",
  ),
  {
    begins: ["---"],
    find: (text, at) => {
      const key = privateKeyAt(text, at);
      return key && { before: key.from - at, length: key.end - at, after: key.end - key.to };
    },
  },
  // A URL with a password, or any login of a web address; a user name alone, as in ssh://git@host, is not a secret.
  row(
    ["://"],
    `(?<before>://)(?:(?<=https?://)[^${NO_LOGIN}]{1,300}|[^:${NO_LOGIN}]{0,200}:[^${NO_LOGIN}]{1,300})(?<after>@)`,
    "",
  ),
];

/** Creates a pattern. The named groups of the expression stay visible in the redacted text. */
function row(begins: readonly string[], source: string, start: string = START): SecretPattern {
  const pattern = new RegExp(start + source, "y");
  return {
    begins,
    find: (text, at) => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      return found
        ? {
            before: found.groups?.["before"]?.length ?? 0,
            length: found[0].length,
            after: found.groups?.["after"]?.length ?? 0,
          }
        : undefined;
    },
  };
}
