import { type DecodedText, unescaped, withMeanings } from "./unescape.ts";

/** Maximum number of nested encodings. For example, `%2541` means `%41`, which means `A`. */
const MOST_LAYERS = 3;

/**
 * The texts that a text contains in encoded form: escaped, in base64, in hexadecimal digits or as numbers of bytes, in
 * any mixture, up to three layers deep, also where line breaks divide it. Each step is one pass over the text. Encoded
 * texts with fewer characters than `shortest` are left out.
 */
export function decodedTexts(text: string, shortest: number): readonly DecodedText[] {
  if (text.length < shortest || !MAY_BE_ENCODED.test(text)) return [];
  const bytes = byteDecoders(shortest);
  const all: DecodedText[] = [];
  let layer: readonly DecodedText[] = [{ text, origin: (from, to) => [from, to] }];
  for (let depth = 0; layer.length > 0; depth++) {
    const next: DecodedText[] = [];
    for (const each of layer) {
      const [joined] = apply(each, [joinedLines]);
      const marked = joined === undefined ? [] : apply(each, [joinedMarkedLines]);
      if (depth > 0) all.push(each);
      all.push(...(joined ? [joined] : []), ...marked);
      if (depth === MOST_LAYERS) continue;
      next.push(
        ...apply(joined ?? each, [unescaped, unquoted, ...bytes]),
        ...marked.flatMap((one) => apply(one, bytes)),
      );
    }
    layer = next;
  }
  return all;
}

/** Matches every text that may contain something encoded; most short texts do not match. */
const MAY_BE_ENCODED =
  /[%\\&\n\r\x1b\u00ad\u200b-\u200d\u2060\ufeff<]|=3D|[\w+/-]{14}|[0-9A-Fa-f]{2}[ :,;-]{1,2}(?:0x)?[0-9A-Fa-f]{2}|[0-9][,; ] ?[0-9]/;

type Decoder = (text: string) => DecodedText | undefined;

/** The texts that the decoders found, with their positions in the original text. */
const apply = (outer: DecodedText, decoders: readonly Decoder[]): DecodedText[] =>
  decoders.flatMap((decode) => {
    const inner = decode(outer.text);
    return inner === undefined
      ? []
      : [{ text: inner.text, origin: (from, to) => outer.origin(...inner.origin(from, to)) }];
  });

/**
 * Matches a line end, as it is, escaped or as a line break of HTML, with the mark of a continued line before it and
 * indentation after it.
 */
const BREAK = "[\\\\=]?(?:\\r?\\n|\\r|\\\\{1,4}r\\\\{1,4}n|\\\\{1,4}n|<br ?/?>\\n?)[ \\t]{0,40}";
/** Characters that a reader does not see: terminal colours, soft hyphens, characters without width. */
const INVISIBLE =
  "\\x1b\\[[0-9;]{0,20}m|[\\u00ad\\u200b-\\u200d\\u2060\\ufeff]|&(?:shy|ZeroWidthSpace|zwnj|zwj);|<wbr ?/?>";
const JOINT = new RegExp(`${BREAK}|${INVISIBLE}`, "g");
/** Matches a line end and the prefix of the next line: the sign of a diff or a quotation, or the number of the line. */
const MARKED_JOINT = new RegExp(`${BREAK}(?:[+>|#*-]{1,3}[ \\t]?|[0-9]{1,7}(?:\\t|[:|] ?))|${JOINT.source}`, "g");
const HAS_JOINT = /[\n\r\u00ad\u200b-\u200d\u2060\ufeff\x1b]|\\[nr]|<(?:br|wbr)|&(?:shy|Zero|zw)/;
const HAS_MARK = /(?:\n|\\n|>)[ \t]{0,40}(?:[+>|#*-]|[0-9]{1,7}[\t:|])/;

const joinedLines: Decoder = (text) => (HAS_JOINT.test(text) ? withMeanings(text, JOINT, () => "") : undefined);
const joinedMarkedLines: Decoder = (text) =>
  HAS_MARK.test(text) ? withMeanings(text, MARKED_JOINT, () => "") : undefined;

/** Resolves the escapes of mails (quoted-printable), which always escape the sign `=` itself. */
const unquoted: Decoder = (text) =>
  text.includes("=3D")
    ? withMeanings(text, /=[0-7][0-9A-F]/g, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    : undefined;

/** The decoders of bytes for each value of `shortest`, made once. */
const decoders = new Map<number, readonly Decoder[]>();

function byteDecoders(shortest: number): readonly Decoder[] {
  const known = decoders.get(shortest);
  if (known) return known;
  const hex = new RegExp(`(?:(?:0x|\\\\x)?[0-9A-Fa-f]{2}[ :,;-]{0,2}){${shortest},}`, "g");
  const numbers = new RegExp(`(?:[0-9]{1,3}(?:, ?|;| {1,3})){${shortest - 1},}[0-9]{1,3}`, "g");
  const made: readonly Decoder[] = [
    (text) => base64Texts(text, shortest),
    (text) => bytesIn(text, { run: hex, byte: /(?:0x|\\x)?([0-9A-Fa-f]{2})/g, base: 16, shortest }),
    (text) => bytesIn(text, { run: numbers, byte: /[0-9]+/g, base: 10, shortest }),
  ];
  decoders.set(shortest, made);
  return made;
}

/** The texts of bytes, with the positions of each byte in the original text. */
class Bytes {
  readonly #parts: string[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #run = "";
  readonly #shortest: number;

  /** `shortest`: the minimum length of a text. Random bytes rarely contain so many visible characters in a row. */
  constructor(shortest: number) {
    this.#shortest = shortest;
  }

  /**
   * Adds a byte. A byte that does not occur in texts ends the text before it. A zero byte is left out, because it
   * occurs in texts with two bytes per character.
   */
  add(byte: number, start: number, end: number): void {
    if (byte === 0) return;
    if (!isText(byte)) return this.endText();
    this.#run += String.fromCharCode(byte);
    this.#starts.push(start);
    this.#ends.push(end);
  }

  endText(): void {
    if (this.#run === "") return;
    if (this.#run.length >= this.#shortest) {
      this.#parts.push(this.#run, "\0");
      this.#starts.push(this.#ends.at(-1)!);
      this.#ends.push(this.#ends.at(-1)!);
    } else {
      this.#starts.length -= this.#run.length;
      this.#ends.length -= this.#run.length;
    }
    this.#run = "";
  }

  texts(): DecodedText | undefined {
    if (this.#parts.length === 0) return undefined;
    const [starts, ends] = [this.#starts, this.#ends];
    return { text: this.#parts.join(""), origin: (from, to) => [starts[from]!, ends[to - 1]!] };
  }
}

/** Whether a byte is a visible character of ASCII, a blank or a line end. */
const isText = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;

const DIGITS = new Int8Array(128).fill(-1);
for (const [at, char] of Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").entries())
  DIGITS[char.charCodeAt(0)] = at;
DIGITS["-".charCodeAt(0)] = 62;
DIGITS["_".charCodeAt(0)] = 63;

const digitAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? DIGITS[code]! : -1;
};

/** The texts in base64. Letters of another word may stand directly before such a text, so every offset is tried. */
function base64Texts(text: string, shortest: number): DecodedText | undefined {
  const least = Math.ceil((shortest * 4) / 3);
  let bytes: Bytes | undefined;
  for (let from = 0; from + least <= text.length; ) {
    // The search goes backwards from the end of a word, so that words that are too short are skipped in a few steps.
    let last = from + least - 1;
    while (last >= from && digitAt(text, last) >= 0) last--;
    if (last >= from) {
      from = last + 1;
      continue;
    }
    let to = from + least;
    while (to < text.length && digitAt(text, to) >= 0) to++;
    for (let start = from; start < from + 4; start++)
      if (mayBeText(text, [start, to], shortest)) addBase64((bytes ??= new Bytes(shortest)), text, [start, to]);
    from = to + 1;
  }
  return bytes?.texts();
}

/**
 * Whether base64 digits contain a text that is long enough. Nearly all words are rejected here, without allocations.
 */
function mayBeText(text: string, [from, to]: readonly [number, number], shortest: number): boolean {
  let run = 0;
  for (let at = from; at + 1 < to && run < shortest; at += 4) {
    const b = digitAt(text, at + 1);
    run = counted(run, (digitAt(text, at) << 2) | (b >> 4));
    if (at + 2 >= to || run >= shortest) break;
    const c = digitAt(text, at + 2);
    run = counted(run, ((b & 15) << 4) | (c >> 2));
    if (at + 3 >= to || run >= shortest) break;
    run = counted(run, ((c & 3) << 6) | digitAt(text, at + 3));
  }
  return run >= shortest;
}

const counted = (run: number, byte: number): number => (byte === 0 ? run : isText(byte) ? run + 1 : 0);

function addBase64(bytes: Bytes, text: string, [from, to]: readonly [number, number]): void {
  for (let at = from; at + 1 < to; at += 4) {
    const b = digitAt(text, at + 1);
    bytes.add((digitAt(text, at) << 2) | (b >> 4), at, at + 2);
    if (at + 2 >= to) break;
    const c = digitAt(text, at + 2);
    bytes.add(((b & 15) << 4) | (c >> 2), at + 1, at + 3);
    if (at + 3 >= to) break;
    bytes.add(((c & 3) << 6) | digitAt(text, at + 3), at + 2, at + 4);
  }
  bytes.endText();
}

function bytesIn(
  text: string,
  { run, byte, base, shortest }: Readonly<{ run: RegExp; byte: RegExp; base: number; shortest: number }>,
): DecodedText | undefined {
  if (text.search(run) < 0) return undefined;
  const bytes = new Bytes(shortest);
  for (const { 0: found, index } of text.matchAll(run)) {
    for (const each of found.matchAll(byte)) {
      const value = Number.parseInt(each[1] ?? each[0], base);
      if (value > 255) bytes.endText();
      else bytes.add(value, index + each.index, index + each.index + each[0].length);
    }
    bytes.endText();
  }
  return bytes.texts();
}

const WRAPPED_LINE = /^[ \t]{0,40}[A-Za-z0-9+/=_-]{32,}\r?\n$/;

/**
 * Finds encoded data whose last line ends at the given offset, directly after a line end, because the next line may
 * continue the data. Returns the offset at which the data begins, or the given offset if there is no such data.
 */
export function wrappedDataBefore(text: string, end: number): number {
  let start = end;
  while (start > 0) {
    const before = text.lastIndexOf("\n", start - 2) + 1;
    if (!WRAPPED_LINE.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}
