import { SHORTEST_SECRET, spellingsOf } from "./spellings.ts";
import { type SecretMatch, type SecretPattern, secretPatterns } from "./patterns.ts";
import { undividedTexts } from "./decode.ts";
import { type DecodedText, unescaped } from "./unescape.ts";

/** The text that replaces a secret. */
export const REDACTED = "[redacted]";

/** Removes secrets from output. Every method takes linear time. */
export type Redactor = Readonly<{
  /**
   * Removes the known secrets in every encoding, and everything that looks like a key, a token or a password in a URL.
   */
  text(text: string): string;
  /** Removes the known secrets only: for text that is processed further, such as a tool result for the model. */
  known(text: string): string;
  /** Redacts every string inside a JSON value; returns the same object when nothing was removed. */
  deep<T>(value: T): T;
  /** Removes the known secrets only, from every string inside a JSON value. */
  knownDeep<T>(value: T): T;
  /**
   * Where to cut a text at the latest so that no known secret with blanks or line breaks is divided. The text may go on,
   * so its end may be the beginning of such a secret.
   */
  cutBefore(text: string, cut: number): number;
  /** Adds secrets to the known secrets, such as tokens that are issued during a run. */
  learn(secrets: readonly string[]): void;
}>;

/**
 * A redactor that knows these secrets: raw, base64, hex, and escaped in any way. Secrets shorter than 8 characters are
 * ignored.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const words = new Set(secrets.flatMap(spellingsOf));
  const searchers = () => {
    const values = searcher([...words], []);
    const all = searcher([...words], secretPatterns);
    /** Searches the text as it is, without escapes, and without what divides secrets in it. */
    const masking =
      (search: Search) =>
      (given: string): string => {
        const decoded = words.size > 0 || search === all ? unescaped(given) : undefined;
        const undivided = words.size > 0 ? undividedTexts(given) : [];
        const more = [
          ...(decoded ? foundIn(decoded, search) : NOTHING),
          ...undivided.flatMap((each) => foundIn(each, values)),
        ];
        return masked(given, search(given), more);
      };
    return {
      divisible: [...words].filter((word) => BLANK.test(word)),
      text: masking(all),
      known: masking(values),
    };
  };
  let now = searchers();
  // A shorter text cannot contain a secret, however it is escaped.
  const text = (given: string): string => (given.length < SHORTEST_SECRET ? given : now.text(given));
  /** Field names that contain no secret. The same names are in every event, so each name is checked only once. */
  let cleanNames = new Set<string>();
  const nameOf = (given: string): string => {
    if (cleanNames.has(given)) return given;
    const clean = text(given);
    if (clean === given && given.length <= LONGEST_NAME && cleanNames.size < MOST_NAMES) cleanNames.add(given);
    return clean;
  };
  const known = (given: string): string => (given.length < SHORTEST_SECRET ? given : now.known(given));
  return {
    text,
    known,
    deep: (value) => deep(value, { text, nameOf }, 0) as typeof value,
    knownDeep: (value) => deep(value, { text: known, nameOf: known }, 0) as typeof value,
    cutBefore: (given, cut) => Math.min(cut, ...now.divisible.map((word) => cutBefore(given, cut, word))),
    learn: (more) => {
      const before = words.size;
      for (const form of more.flatMap(spellingsOf)) words.add(form);
      if (words.size === before) return;
      now = searchers();
      cleanNames = new Set();
    },
  };
}

/**
 * The maximum number and the maximum length of field names that are remembered as free of secrets: values can contain
 * any number of names.
 */
const MOST_NAMES = 1_000;
const LONGEST_NAME = 100;

/** Maximum nesting; a deeper value is redacted as one JSON text. */
const DEEPEST = 100;

/** How the strings of a JSON value are redacted: the values, and the names of fields. */
type Cleaning = Readonly<{ text(text: string): string; nameOf(name: string): string }>;

function deep(value: unknown, clean: Cleaning, depth: number): unknown {
  if (typeof value === "string") return clean.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return clean.text(JSON.stringify(value));
  if (Array.isArray(value)) {
    const given: readonly unknown[] = value;
    let changed: unknown[] | undefined;
    for (let at = 0; at < given.length; at += 1) {
      const next = deep(given[at], clean, depth + 1);
      if (next !== given[at]) (changed ??= [...given])[at] = next;
    }
    return changed ?? given;
  }
  let changed: Record<string, unknown> | undefined;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const inner = fields[key];
    const name = clean.nameOf(key);
    const next = deep(inner, clean, depth + 1);
    if (next === inner && name === key) continue;
    changed ??= { ...fields };
    if (name !== key) delete changed[key];
    changed[name] = next;
  }
  return changed ?? value;
}

/** The index of a secret with blanks that a cut would divide, complete or at the end of the text; otherwise the cut. */
function cutBefore(text: string, cut: number, word: string): number {
  const first = word[0]!;
  let at = text.indexOf(first, Math.max(0, cut - word.length + 1));
  for (; at >= 0 && at < cut; at = text.indexOf(first, at + 1))
    if (text.startsWith(word, at) || word.startsWith(text.slice(at))) return at;
  return cut;
}

const BLANK = /\s/;

/** Candidates for a three-character prefix of a secret: words to compare, patterns to try. */
type Bucket = { readonly words: string[]; readonly patterns: SecretPattern[] };

const BUCKETS = 1 << 16;

/**
 * Searches for many words and patterns in one pass: the three characters at each position are looked up in a table, and
 * only words and patterns that begin with them are compared. A single regular expression for everything is many times
 * slower.
 */
function searcher(words: readonly string[], patterns: readonly SecretPattern[]): Search {
  const buckets = new Map<number, Bucket>();
  const marked = new Uint8Array(BUCKETS);
  const bucketFor = (beginning: string): Bucket => {
    const at = hashOf(beginning.charCodeAt(0), beginning.charCodeAt(1), beginning.charCodeAt(2));
    marked[at] = 1;
    const bucket = buckets.get(at) ?? { words: [], patterns: [] };
    buckets.set(at, bucket);
    return bucket;
  };
  for (const word of words.toSorted((a, b) => b.length - a.length)) bucketFor(word).words.push(word);
  for (const pattern of patterns) for (const beginning of pattern.begins) bucketFor(beginning).patterns.push(pattern);

  return (text) => {
    const last = text.length - SHORTEST_SECRET;
    if (last < 0) return NOTHING;
    let all: Found[] | undefined;
    let first = text.charCodeAt(0);
    let second = text.charCodeAt(1);
    for (let at = 0; at <= last; at += 1) {
      const third = text.charCodeAt(at + 2);
      const hash = hashOf(first, second, third);
      first = second;
      second = third;
      if (marked[hash] === 0) continue;
      const found = match(text, at, buckets.get(hash)!);
      if (!found) continue;
      const to = at + found.length;
      (all ??= []).push({ from: at, start: at + found.before, end: to - found.after, to });
      at = to - 1;
      first = text.charCodeAt(to);
      second = text.charCodeAt(to + 1);
    }
    return all ?? NOTHING;
  };
}

type Search = (text: string) => readonly Found[];

/** A secret in a text, from `start` to `end`; what is around it, from `from` to `to`, stays visible. */
type Found = Readonly<{ from: number; start: number; end: number; to: number }>;

const NOTHING: readonly Found[] = [];

/** Positions in the original text of secrets that appear only after it is decoded. */
function foundIn({ text, origin }: DecodedText, search: Search): Found[] {
  return search(text).map(({ from, start, end, to }) => {
    const [first, last] = origin(from, to);
    const [begin, stop] = end > start ? origin(start, end) : [first, last];
    return { from: first, start: begin, end: stop, to: last };
  });
}

/** Replaces the matches. Overlapping matches are removed together; what is visible around the first one stays. */
function masked(text: string, found: readonly Found[], more: readonly Found[]): string {
  if (found.length === 0 && more.length === 0) return text;
  const all = more.length === 0 ? found : [...found, ...more].toSorted((one, other) => one.from - other.from);
  const parts: string[] = [];
  let cursor = 0;
  for (const { from, start, end, to } of all) {
    if (from >= cursor) parts.push(text.slice(cursor, start), REDACTED, text.slice(end, to));
    cursor = Math.max(cursor, to);
  }
  parts.push(text.slice(cursor));
  return parts.join("");
}

function match(text: string, at: number, { words, patterns }: Bucket): SecretMatch | undefined {
  for (const word of words) if (text.startsWith(word, at)) return { before: 0, after: 0, length: word.length };
  for (const word of words) {
    const length = cutLength(text, at, word);
    if (length > 0) return { before: 0, after: 0, length };
  }
  for (const pattern of patterns) {
    const look = pattern.find(text, at);
    if (look) return look;
  }
  return undefined;
}

/**
 * The length of the beginning of a secret whose rest was cut off: it stands at the end of the text or before a mark
 * such as `...`. 0: there is no such beginning, or it is too short to tell it from other text.
 */
function cutLength(text: string, at: number, word: string): number {
  const least = Math.min(LEAST_CUT, Math.max(SHORTEST_SECRET, Math.ceil(word.length / 2)));
  if (!text.startsWith(word.slice(0, least), at)) return 0;
  let length = least;
  while (length < word.length && text.charCodeAt(at + length) === word.charCodeAt(length)) length += 1;
  return CUT_MARK.test(text.slice(at + length, at + length + 8)) ? length : 0;
}

const LEAST_CUT = 12;
const CUT_MARK = /^\s*(?:$|\.{3}|\u2026|\[)/;

function hashOf(first: number, second: number, third: number): number {
  return (first * 1369 + second * 37 + third) & (BUCKETS - 1);
}
