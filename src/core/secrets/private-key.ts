import { unescaped } from "./unescape.ts";

/**
 * Patterns that find private keys in PEM form, of any size, whole or cut off: indented, numbered, quoted, in upper or
 * lower case. Every step moves forward, so the scan takes linear time. Escapes are resolved before.
 */

const BLANK = "[ +\\t\\u00a0]";
/** A pattern for the beginning of a marker such as `-----BEGIN` or `-----END`. */
const START = (name: string): string => `-{4,5}${BLANK}?${name}${BLANK}`;
const MARK = (name: string): string =>
  `${START(name)}(?:[A-Z0-9]{1,20}${BLANK}){0,4}PRIVATE${BLANK}KEY(?:${BLANK}BLOCK)?${BLANK}?-{4,5}`;
const BEGIN = new RegExp(MARK("BEGIN"), "iy");
const END = new RegExp(MARK("END"), "iy");
const BEGIN_START = new RegExp(START("BEGIN"), "i");
const BEGIN_ANYWHERE = new RegExp(START("BEGIN"), "ig");
const END_ANYWHERE = new RegExp(`${START("END")}[^\\n]{0,400}?-{4,5}`, "i");
/** Matches a line end, also an escaped line end, a Unicode line end or a line break of HTML. */
const LINE_END = /(?:\\{1,4}[rn]|[\r\n\v\f\x85\u2028\u2029]|<br\s?\/?>)/iy;
/**
 * Matches what may separate the lines of a key: blanks, quotes, marks of a diff or a comment, the number of a line, a
 * path before it.
 */
const DECORATION = /(?:[ \t"'`,;|>#*+]|\\{1,4}["t]|\d{1,7}(?:[:|]|(?=\t))|[\w./-]{1,200}[:-]\d{1,7}[:-])/y;
const HEADER = /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject): [^\r\n\\]{0,200}/y;
const MATERIAL = /[a-z0-9+/=_]+/iy;

const OTHER_LINE = "(?:(?!-{4})[^\\n]){0,300}\\n";
const KEY_LINE = "[ \\t]{0,40}[a-z0-9+/]{40,100}={0,2}[ \\t]{0,40}(?:\\r?\\n|$)";
/** The maximum number of lines that another program printed between the lines of a key. */
const MOST_OTHER_LINES = 4;
const INTERRUPTION = new RegExp(`(?:${OTHER_LINE}){1,${MOST_OTHER_LINES}}?(?=${KEY_LINE})`, "iy");
/**
 * Like `INTERRUPTION`, for a text that begins in the middle of an interruption: entry n allows at most n further lines.
 */
const CONTINUATIONS = Array.from(
  { length: MOST_OTHER_LINES + 1 },
  (_, most) => new RegExp(`(?:${OTHER_LINE}){0,${most}}?(?=${KEY_LINE})`, "iy"),
);

/** Minimum number of key characters: the text `-----BEGIN PRIVATE KEY-----` alone is not a key. */
const SHORTEST_KEY = 16;

/**
 * A private key in a text: where its lines begin and end, where its end marker ends, and whether the text ended before
 * the key.
 */
export type FoundKey = Readonly<{ from: number; to: number; end: number; open: boolean }>;

/** The private key whose begin marker (`-----BEGIN ...`) is at this offset. */
export function privateKeyAt(text: string, at: number): FoundKey | undefined {
  const from = matched(BEGIN, text, at);
  if (from === undefined) return undefined;
  const { to, end, chars } = keyLines(text, from, 0);
  if (chars < SHORTEST_KEY && end === to) return undefined;
  return { from, to, end, open: end === to && to === text.length };
}

/**
 * Finds the ends of the lines of a key that start at `from`, and returns their offsets. `others` are lines of another
 * program; after them, only a long line continues the key.
 */
function keyLines(text: string, from: number, others: number): { to: number; end: number; chars: number } {
  const start = others === 0 ? from : matched(CONTINUATIONS[MOST_OTHER_LINES - others]!, text, from);
  if (start === undefined) return { to: from, end: from, chars: 0 };
  let at = start;
  let to = from;
  let chars = 0;
  for (;;) {
    at = skipped(text, at);
    const end = matched(END, text, at);
    if (end !== undefined) return { to: at, end, chars };
    const next = matched(HEADER, text, at) ?? matched(MATERIAL, text, at);
    // A few key characters are the last line of a key when they stand alone, and a word of prose when more words
    // follow.
    if (next === undefined || (next - at < SHORTEST_KEY && !isAlone(text, next))) {
      const resumed = matched(INTERRUPTION, text, at);
      if (resumed === undefined) break;
      at = resumed;
      continue;
    }
    chars += next - at;
    at = next;
    to = next;
  }
  // Only white space follows up to the end of the text: the key may continue in the next chunk.
  const rest = skipped(text, to);
  if (rest === text.length) to = rest;
  const near = /^[^-]{0,90}/.exec(text.slice(to, to + 90))![0].length;
  const end = matched(END, text, to + near);
  return end === undefined ? { to, end: to, chars } : { to: to + near, end, chars };
}

const isAlone = (text: string, end: number): boolean =>
  end === text.length || matched(LINE_END, text, end) !== undefined || /["'`,\\&%-]/.test(text.charAt(end));

function skipped(text: string, from: number): number {
  for (let at = from; ; ) {
    const next = matched(LINE_END, text, at) ?? matched(DECORATION, text, at);
    if (next === undefined) return at;
    at = next;
  }
}

function matched(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** A place in the middle of a private key, with the number of lines of another program after its last line. */
type InKey = Readonly<{ others: number }>;

/**
 * Follows a text that comes in pieces, and masks the lines of a private key that began in an earlier piece: a key can be
 * longer than anything that is held back.
 */
export class OpenKey {
  #inside: InKey | undefined;

  /** True if the next piece may continue a key. */
  get isInside(): boolean {
    return this.#inside !== undefined;
  }

  /** True directly after a line of a key. */
  get isOpen(): boolean {
    return this.#inside?.others === 0;
  }

  /** The piece without the rest of the key that began before it. */
  masked(piece: string, mask: string): string {
    return this.#inside ? withoutOpenKey(piece, mask, this.#inside) : piece;
  }

  /** Notes that the next piece follows this one. */
  follow(piece: string): void {
    this.#inside = endsInKey(plain(piece), this.#inside);
  }

  /** Masks a piece, and follows it. */
  take(piece: string, mask: string): string {
    const shown = this.masked(piece, mask);
    this.follow(piece);
    return shown;
  }
}

const plain = (text: string): string => unescaped(text)?.text ?? text;

/** The place in a private key at which a text ends; `inside`: the place in a key at which the text began. */
function endsInKey(text: string, inside: InKey | undefined): InKey | undefined {
  const last = lastBegin(text);
  if (last >= 0) {
    const key = privateKeyAt(text, last);
    if (key === undefined) return afterMarker(text, last);
    return key.end > key.to ? undefined : afterLines(text.slice(key.to), 0);
  }
  if (inside === undefined) return undefined;
  const { to, end } = keyLines(text, 0, inside.others);
  if (end > to || /-{4,5}[^-\n]{0,80}-{0,5}\s*$/.test(text.slice(-100))) return undefined;
  return afterLines(text.slice(to), to === 0 ? inside.others : 0);
}

/**
 * The place in a key after a text that contains no lines of the key; `undefined` if the text is too long to interrupt a
 * key.
 */
function afterLines(text: string, others: number): InKey | undefined {
  const rest = text.replace(/^\r?\n/, "");
  if (rest === "") return { others };
  if (rest.length > 301 * MOST_OTHER_LINES) return undefined;
  const lines = rest.replace(/\n$/, "").split("\n");
  const sum = others + lines.length;
  return sum > MOST_OTHER_LINES || lines.some((line) => line.length > 300) ? undefined : { others: sum };
}

/** The place in a key if a text contains only its begin marker, at the end of a line. */
function afterMarker(text: string, at: number): InKey | undefined {
  const from = matched(BEGIN, text, at);
  if (from === undefined) return undefined;
  const { to } = keyLines(text, from, 0);
  if (to === text.length) return { others: 0 };
  return matched(LINE_END, text, from) === undefined ? undefined : afterLines(text.slice(to), 0);
}

function lastBegin(text: string): number {
  let last = -1;
  BEGIN_ANYWHERE.lastIndex = 0;
  for (let found = BEGIN_ANYWHERE.exec(text); found !== null; found = BEGIN_ANYWHERE.exec(text)) {
    // Of six dashes, the last five begin the marker.
    for (let at = found.index; at < BEGIN_ANYWHERE.lastIndex; at++)
      if (matched(BEGIN, text, at) !== undefined) {
        last = at;
        break;
      }
  }
  return last;
}

/** The offset at which a private key begins that has no end before `end`; -1: there is none. */
export function unfinishedKey(text: string, end: number): number {
  const decoded = unescaped(text);
  const from = (decoded?.text ?? text).search(BEGIN_START);
  if (from < 0) return -1;
  const at = decoded ? decoded.origin(from, from + 1)[0] : from;
  return END_ANYWHERE.test(plain(text.slice(at, end))) ? -1 : at;
}

/** Removes the rest of a private key from a text that begins in the middle of a key. */
function withoutOpenKey(text: string, mask: string, { others }: InKey): string {
  const decoded = unescaped(text);
  const { to, end } = keyLines(decoded?.text ?? text, 0, others);
  if (to === 0 && end === 0) return text;
  return mask + text.slice(decoded && to > 0 ? decoded.origin(0, to)[1] : to);
}

/** The text from this position on; the rest of a private key that began before it is masked. */
export function cutOutsideKey(text: string, start: number, mask: string): string {
  if (start <= 0) return text;
  const key = new OpenKey();
  key.follow(text.slice(0, start));
  return key.masked(text.slice(start), mask);
}
