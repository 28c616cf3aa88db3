/*
 * Finds private keys in PEM form, of any size, whole or cut off: indented, numbered, quoted, or escaped as JSON, URL or
 * HTML does it. Every step moves forward, so the scan takes linear time.
 */

const BLANK = "(?: |%20|\\+|&#(?:32|x20);|\\\\u0020)";
const MARK = (word: string): RegExp =>
  new RegExp(
    `-{4,5}${BLANK}?${word}${BLANK}(?:[A-Z0-9]{1,20}${BLANK}){0,4}PRIVATE${BLANK}KEY(?:${BLANK}BLOCK)?${BLANK}?-{4,5}`,
    "y",
  );
const BEGIN = MARK("BEGIN");
const END = MARK("END");
/** A line end, also an escaped one, one of Unicode, or a break of HTML. */
const LINE_END =
  /(?:\\{1,4}[rn]|[\r\n\v\f\x85\u2028\u2029]|%0[AaDd]|&#(?:10|13|x0?[aAdD]);|\\{1,4}u(?:000[aAdD]|202[89])|<(?:br|BR)\s?\/?>)/y;
/** What may separate the lines of a key: blanks, quotes, marks of a diff or a comment, the number of a line, a path before it. */
const DECORATION = /(?:[ \t"'`,;|>#*+]|\\{1,4}["t]|&quot;|\d{1,7}(?:[:|]|(?=\t))|[\w./-]{1,200}[:-]\d{1,7}[:-])/y;
const HEADER = /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject): [^\r\n\\]{0,200}/y;
const MATERIAL = /(?:[A-Za-z0-9+/=_]|%2[BbFf]|%3[Dd]|\\\/|\\u00(?:2[bBfF]|3[dD])|&#(?:43|47|61|x2[bBfF]|x3[dD]);)+/y;

/** Minimum number of key characters: the text `-----BEGIN PRIVATE KEY-----` alone is not a key. */
const SHORTEST_KEY = 16;

/** A private key in a text: where its lines begin and end, where its end marker ends, and whether the text ended first. */
export type FoundKey = Readonly<{ from: number; to: number; end: number; open: boolean }>;

/** The private key whose begin marker (`-----BEGIN ...`) is at this offset. */
export function privateKeyAt(text: string, at: number): FoundKey | undefined {
  const from = matched(BEGIN, text, at);
  if (from === undefined) return undefined;
  const { to, end, chars } = keyLines(text, from);
  if (chars < SHORTEST_KEY && end === to) return undefined;
  return { from, to, end, open: end === to && to === text.length };
}

/** The offsets at which the lines of a key end that start at `from`. */
function keyLines(text: string, from: number): { to: number; end: number; chars: number } {
  let at = from;
  let to = from;
  let chars = 0;
  for (;;) {
    at = skipped(text, at);
    const end = matched(END, text, at);
    if (end !== undefined) return { to: at, end, chars };
    const next = matched(HEADER, text, at) ?? matched(MATERIAL, text, at);
    if (next === undefined) break;
    // A few key characters are the last line of a key when they stand alone, and a word of prose when more words
    // follow.
    const alone =
      next === text.length || matched(LINE_END, text, next) !== undefined || /["'`,\\&%-]/.test(text.charAt(next));
    if (next - at < SHORTEST_KEY && !alone) break;
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

/** Whether a text ends in the middle of a private key; `inside`: it also began in the middle of one. */
export function endsInKey(text: string, inside: boolean): boolean {
  const last = lastBegin(text);
  if (last >= 0) return privateKeyAt(text, last)?.open ?? isBareMarker(text, last);
  return inside && keyLines(text, 0).to === text.length && !/-{4,5}[^-\n]{0,80}-{0,5}\s*$/.test(text.slice(-100));
}

/** True if the begin marker of a key is at the very end of the text, so that the next chunk decides. */
function isBareMarker(text: string, at: number): boolean {
  const from = matched(BEGIN, text, at);
  return from !== undefined && keyLines(text, from).to === text.length;
}

function lastBegin(text: string): number {
  for (let at = text.length; at >= 0; ) {
    const found = text.lastIndexOf("BEGIN", at);
    if (found < 0) return -1;
    for (const dashes of [5, 6, 4]) if (matched(BEGIN, text, found - dashes) !== undefined) return found - dashes;
    at = found - 1;
  }
  return -1;
}

/** Removes the rest of a private key from a text that begins in the middle of one. */
export function withoutOpenKey(text: string, mask: string): string {
  const { to, end } = keyLines(text, 0);
  return end > to ? `${mask}${text.slice(to)}` : to === 0 ? text : `${mask}${text.slice(to)}`;
}

/** The text from this position on; the rest of a private key that began before it is masked. */
export function cutOutsideKey(text: string, start: number, mask: string): string {
  if (start <= 0) return text;
  const tail = text.slice(start);
  return endsInKey(text.slice(0, start), false) ? withoutOpenKey(tail, mask) : tail;
}
