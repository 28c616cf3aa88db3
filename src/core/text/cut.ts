/** The maximum number of stored bytes of one task's output: 50 KB. */
export const MAX_OUTPUT_BYTES = 51_200;
/** The maximum number of stored lines of one task's output. */
export const MAX_OUTPUT_LINES = 2_000;
/** How much of an output is shown inline; the rest is in a file. */
export const INLINE_CHARS = 2_000;

/** A text after cutting, and whether anything was removed. */
export type CutText = Readonly<{ text: string; cut: boolean }>;

/**
 * Keeps the end of a text: at most `bytes` UTF-8 bytes and `lines` lines, cut between two code points. A newline at the
 * very end does not count as a further line. Reads only the part that it keeps.
 */
export function cutTail(text: string, { bytes = MAX_OUTPUT_BYTES, lines = MAX_OUTPUT_LINES }: CutLimits = {}): CutText {
  let start = text.length;
  let leftBytes = bytes;
  let leftLines = lines;
  if (lines < 1) return { text: "", cut: text !== "" };
  while (start > 0) {
    const unit = text.charCodeAt(start - 1);
    if (unit === NEWLINE && start < text.length && --leftLines < 1) break;
    const width = isLow(unit) && start > 1 && isHigh(text.charCodeAt(start - 2)) ? 2 : 1;
    leftBytes -= width === 2 ? 4 : byteLength(unit);
    if (leftBytes < 0) break;
    start -= width;
  }
  return { text: text.slice(start), cut: start > 0 };
}

/** Keeps the beginning of a text: at most `chars` UTF-16 units, never half of a surrogate pair. */
export function cutHead(text: string, chars: number = INLINE_CHARS): CutText {
  const end = Math.max(0, Math.floor(chars));
  if (text.length <= end) return { text, cut: false };
  const splits = end > 0 && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end));
  return { text: text.slice(0, splits ? end - 1 : end), cut: true };
}

/** The beginning and the end of a text, and the number of characters between them. */
export type EndsOfText = Readonly<{ head: string; tail: string; omitted: number }>;

/**
 * Keeps the beginning (two thirds) and the end of a text: together at most `chars` UTF-16 units, cut at whole lines if
 * these fill at least half of each part.
 */
export function keepEnds(text: string, chars: number): EndsOfText {
  const most = Math.max(0, Math.floor(chars));
  if (text.length <= most) return { head: text, tail: "", omitted: 0 };
  const first = cutHead(text, Math.ceil((most * 2) / 3)).text;
  const line = text[first.length] === "\n" ? first.length : first.lastIndexOf("\n");
  const head = line > first.length / 2 ? text.slice(0, line) : first;
  const begin = text.length - Math.floor(most / 3);
  const start = isLow(text.charCodeAt(begin)) && isHigh(text.charCodeAt(begin - 1)) ? begin + 1 : begin;
  const next = text[start - 1] === "\n" ? start : text.indexOf("\n", start) + 1;
  const tail = text.slice(next > 0 && text.length - next > (text.length - start) / 2 ? next : start);
  return { head, tail, omitted: text.length - head.length - tail.length };
}

/**
 * Where a long result is cut: at the exact character, or after the last whole paragraph or sentence before that
 * character.
 */
export type SummaryCut = "simple" | "smart";

/** Keeps the beginning of a result for the agent that asked for it. */
export const cutSummary = (text: string, chars: number = INLINE_CHARS, how: SummaryCut = "simple"): CutText =>
  how === "smart" ? cutWhole(text, chars) : cutHead(text, chars);

/**
 * Keeps whole paragraphs, else whole lines, sentences or words, if they fill at least half of the limit. A block of
 * code that would be left open is closed.
 */
function cutWhole(text: string, chars: number): CutText {
  const head = cutHead(text, chars);
  if (!head.cut) return head;
  const least = Math.floor(head.text.length / 2);
  const next = text.slice(head.text.length, head.text.length + 1);
  const ends = [
    head.text.lastIndexOf("\n\n"),
    head.text.lastIndexOf("\n"),
    lastSentence(head.text + next),
    head.text.lastIndexOf(" "),
  ];
  const end = ends.find((at) => at >= least && at > 0) ?? head.text.length;
  const kept = head.text.slice(0, end).trimEnd();
  const isOpen = (kept.match(/^```/gm)?.length ?? 0) % 2 === 1;
  return { text: isOpen ? `${kept}\n\`\`\`` : kept, cut: true };
}

/** The end of the last sentence: after its full stop, before a blank. */
function lastSentence(text: string): number {
  for (let at = text.length - 1; at > 0; at--) if (/\s/.test(text[at]!) && /[.!?。！？]/.test(text[at - 1]!)) return at;
  return -1;
}

/** How many bytes and lines to keep; the defaults are the limits of a stored task output. */
export type CutLimits = Readonly<{ bytes?: number; lines?: number }>;

const NEWLINE = 0x0a;
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * The UTF-8 length of a UTF-16 unit outside a surrogate pair; a lone surrogate becomes U+FFFD, which has three bytes.
 */
function byteLength(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}
