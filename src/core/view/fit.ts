import stringWidth from "string-width";

/** At most so many columns of a text, with a sign at its end when something is missing. */
export function fit(text: string, columns: number, more: string): string {
  const plain = isPlain(text);
  if (plain ? text.length <= columns : stringWidth(text) <= columns) return text;
  const room = columns - widthOf(more);
  if (room < 0) return "";
  if (plain) return text.slice(0, room) + more;
  let kept = "";
  let width = 0;
  for (const { segment } of segmenter.segment(text.slice(0, columns * LONGEST_CLUSTER))) {
    const wide = stringWidth(segment);
    if (width + wide > room) break;
    kept += segment;
    width += wide;
  }
  return kept + more;
}

/** The text and as many blanks as fill the columns. */
export function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** How many columns a text takes. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  // Most other texts are plain ones that were cut.
  return text.endsWith(CUT) && isPlain(text.slice(0, -1)) ? text.length : stringWidth(text);
}

const CUT = "\u2026";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** More code units than this in one cell of the screen are dropped as noise. */
const LONGEST_CLUSTER = 16;
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
