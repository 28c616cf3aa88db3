import { type DecodedText, withMeanings } from "./unescape.ts";

/**
 * The text without what may divide a secret in it: line ends and invisible characters, the marks of a diff or a listing
 * at the beginning of lines, soft line ends of mails, and separators of bytes. Each is one pass over the text.
 */
export function undividedTexts(text: string): readonly DecodedText[] {
  if (!MAY_BE_DIVIDED.test(text)) return [];
  return [
    HAS_JOINT.test(text) ? withMeanings(text, JOINT, () => "") : undefined,
    HAS_MARK.test(text) ? withMeanings(text, MARKED_JOINT, () => "") : undefined,
    text.includes("=3D") ? withMeanings(text, MAIL, fromMail) : undefined,
    HAS_HEX.test(text) ? withMeanings(text, BETWEEN_HEX, () => "") : undefined,
    HAS_NUMBERS.test(text) ? withMeanings(text, BETWEEN_NUMBERS, () => ",") : undefined,
  ].filter((each) => each !== undefined);
}

/** Matches every text that may contain something divided; most short texts do not match. */
const MAY_BE_DIVIDED =
  /[\n\r\x1b\u00ad\u200b-\u200d\u2060\ufeff<&\\]|=3D|[0-9A-Fa-f]{2}[ :,;-]{1,2}(?:0x)?[0-9A-Fa-f]{2}|[0-9][,; ] ?[0-9]/;

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

/** Matches the escapes of mails (quoted-printable), which always escape the sign `=` itself, and their soft line ends. */
const MAIL = /=(?:[0-7][0-9A-F]|\r?\n)/g;
const fromMail = (code: string): string =>
  code.endsWith("\n") ? "" : String.fromCharCode(Number.parseInt(code.slice(1), 16));

/** Matches what stands between bytes in hexadecimal digits, and between bytes as numbers. */
const BETWEEN_HEX = /(?<=[0-9a-f]{2})[ :,;-]{1,2}(?:0x)?(?=[0-9a-f]{2})/gi;
const BETWEEN_NUMBERS = /(?<=[0-9])(?:, ?|;| {1,3})(?=[0-9])/g;
const HAS_HEX = /[0-9a-f]{2}(?:[ :,;-]{1,2}(?:0x)?[0-9a-f]{2}){3}/i;
const HAS_NUMBERS = /[0-9](?:(?:, ?|;| {1,3})[0-9]{1,3}){3}/;

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
