import stringWidth from "string-width";

/** Shortens a text to a number of columns, with a sign at its end if something is missing. */
export function fit(text: string, columns: number, more: string): string {
  const plain = isPlain(text);
  if (plain ? text.length <= columns : widthOf(text) <= columns) return text;
  const room = columns - widthOf(more);
  if (room < 0) return "";
  if (plain) return text.slice(0, room) + more;
  let kept = "";
  let width = 0;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text.slice(0, columns * LONGEST_CLUSTER))) {
    const wide = stringWidth(segment);
    if (width + wide > room) break;
    kept += segment;
    width += wide;
  }
  return kept + more;
}

/**
 * The last row of a text that is wrapped by words, where a growing text continues. The row stays in place while words
 * are added, and a new row begins when it is full, so that little has to be drawn again.
 */
export function lastRow(text: string, columns: number): string {
  if (text.length <= columns && isPlain(text)) return text;
  // Of a very long line only the end is wrapped; from a position that changes seldom, so that the rows stay the same.
  const from = Math.max(0, Math.floor(text.length / FAR) - 1) * FAR;
  const end = from === 0 ? text : text.slice(from);
  return isPlain(end) ? lastPlainRow(end, columns) : (wordRows(end, columns).at(-1) ?? "");
}
const FAR = 1_000;

/**
 * Does the same as `lastRow`, for characters of one column each. In such texts blanks are found without measuring
 * words.
 */
function lastPlainRow(text: string, columns: number): string {
  let start = 0;
  while (text.length - start > columns) {
    const before = text.lastIndexOf(" ", start + columns);
    const blank = before >= start ? before : text.indexOf(" ", start + columns); // a word that is too long stays whole
    if (blank < 0) break;
    start = blank + 1;
  }
  return text.slice(start);
}

/** Rows of a plain text, broken between words; a word that is wider than a row stays whole. */
export function wordRows(text: string, columns: number): string[] {
  const rows: string[] = [];
  let width = 0;
  for (const word of text.split(" ")) {
    const wide = widthOf(word);
    if (rows.length > 0 && width + 1 + wide <= columns) {
      rows[rows.length - 1] += ` ${word}`;
      width += 1 + wide;
    } else {
      rows.push(word);
      width = wide;
    }
  }
  return rows;
}

/** The text and as many blanks as fill the columns. */
export function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** The number of columns that a text takes on the terminal. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  const known = measured.get(text);
  if (known !== undefined) return known;
  const width = stringWidth(text);
  if (text.length > LONGEST_MEASURED) return width;
  if (measured.size >= MOST_MEASURED) measured.clear();
  measured.set(text, width);
  return width;
}

/** Cache of the widths of short texts: a screen measures the same texts in every frame. */
const measured = new Map<string, number>();
const MOST_MEASURED = 2_000;
const LONGEST_MEASURED = 400;

/** A segmenter that is created when the first text needs it, because its data take milliseconds to load. */
let segmenter: Intl.Segmenter | undefined;
/**
 * The maximum number of code units in one visible character. Further code units (such as piled-up accents) are not
 * shown.
 */
const LONGEST_CLUSTER = 16;
/**
 * Whether each code unit is a character of one column: ASCII, Latin letters, and the punctuation, arrows, lines and
 * check marks in subcrew's own texts. Other texts are measured, which takes much longer, and 30 ms the first time.
 */
const isPlain = (text: string): boolean => PLAIN.test(text);
const PLAIN =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc\u25ff\u2713\u2717\u2800-\u28ff]*$/;
