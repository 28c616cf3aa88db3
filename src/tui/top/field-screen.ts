import { widthOf } from "../../core/view/fit.ts";

/** A piece of a row at a fixed column. Its text has no control characters and fits the width. */
export type Field = Readonly<{ column: number; width: number; text: string; paint?: (text: string) => string }>;

/** A whole screen: as many rows as the terminal has, each with fields from left to right that do not overlap. */
export type FieldFrame = Readonly<{
  columns: number;
  rows: readonly (readonly Field[])[];
  cursor?: Readonly<{ row: number; column: number }>;
  /** The title of the terminal's window. */
  title?: string;
}>;

/**
 * The alternate screen of a terminal, drawn as fields. Only fields that differ are written, each frame in one write.
 *
 * Terminals disagree on the width of many characters. Hence a field with other than plain characters is cleared before it
 * is written, and the fields to the right of it are written again: what is on the screen never depends on what was there.
 */
export class FieldScreen {
  readonly #write: (text: string) => unknown;
  #shown: FieldFrame | undefined;
  #cursor = "";
  #open = false;

  constructor(write: (text: string) => unknown) {
    this.#write = write;
  }

  /** Shows a frame. Writes nothing when nothing changed. */
  draw(frame: FieldFrame): void {
    const before = this.#shown;
    const fresh = before === undefined || before.columns !== frame.columns || before.rows.length !== frame.rows.length;
    const body = frame.rows.map((row, at) => rowText(row, fresh ? [] : before.rows[at]!, at)).join("");
    const cursor = frame.cursor ? `${place(frame.cursor.row, frame.cursor.column)}${ESC}[?25h` : `${ESC}[?25l`;
    this.#shown = frame;
    if (!fresh && body === "" && cursor === this.#cursor && frame.title === before.title) return;
    const start = this.#open ? "" : ENTER;
    const title = frame.title === undefined || frame.title === before?.title ? "" : `${ESC}]2;${frame.title}\u0007`;
    const hide = this.#cursor.endsWith("h") ? `${ESC}[?25l` : "";
    this.#open = true;
    this.#cursor = cursor;
    this.#write(`${ESC}[?2026h${start}${hide}${fresh ? `${ESC}[2J` : ""}${title}${body}${cursor}${ESC}[?2026l`);
  }

  /** Gives the terminal back as it was. Safe to call at any time, also twice; the next frame takes it again. */
  close(): void {
    this.#shown = undefined;
    if (this.#open) this.#write(LEAVE);
    this.#open = false;
    this.#cursor = "";
  }
}

const ESC = "\u001b";
/** Keeps the window's title, and enters the alternate screen without wrapping, so that a character of unexpected width cannot spill into the next row. */
const ENTER = `${ESC}[22;0t${ESC}[?1049h${ESC}[?7l`;
const LEAVE = `${ESC}[?7h${ESC}[?1049l${ESC}[?25h${ESC}[23;0t`;

const place = (row: number, column: number): string => `${ESC}[${row + 1};${column + 1}H`;

/** What has to be written so that a row with the fields `before` shows these fields. */
function rowText(row: readonly Field[], before: readonly Field[], at: number): string {
  const sameLayout =
    row.length === before.length &&
    row.every(({ column, width }, index) => column === before[index]!.column && width === before[index]!.width);
  if (row.length === 0) return before.length === 0 ? "" : `${place(at, 0)}${ESC}[K`;
  let text = sameLayout || before.length === 0 ? "" : `${place(at, 0)}${ESC}[K`;
  let spill = !sameLayout; // true: this field and all fields after it are written again
  let next = -1; // the column at which the cursor is known to stand
  for (const [index, field] of row.entries()) {
    const old = sameLayout ? before[index]! : undefined;
    if (!spill && old && isSameField(old, field)) continue;
    const last = index === row.length - 1;
    const plain = isPlain(field.text);
    if (!spill && old && plain && isPlain(old.text) && old.paint === field.paint) {
      const part = changedPart(old, field, last);
      const from = field.column + part.at;
      text += `${next === from ? "" : place(at, from)}${part.text}`;
      next = -1; // after a text that ends in the last column the cursor still stands on it
      continue;
    }
    const to = next === field.column ? "" : place(at, field.column);
    // Erased first: after a text that ends in the last column the cursor still stands on it.
    if (last) text += `${to}${ESC}[K${painted(field)}`;
    else if (plain) text += `${to}${painted(field)}${blanks(field)}`;
    else text += `${to}${" ".repeat(field.width)}${place(at, field.column)}${painted(field)}`;
    if (!plain || (old && !isPlain(old.text))) spill = true;
    next = plain ? field.column + field.width : -1;
  }
  return text;
}

/** The characters of a plain field that differ from those before, and blanks over what was longer. */
function changedPart(old: Field, { text, paint, width }: Field, last: boolean): Readonly<{ at: number; text: string }> {
  let at = 0;
  while (at < text.length && text[at] === old.text[at]) at += 1;
  let end = text.length;
  if (text.length === old.text.length) while (end > at && text[end - 1] === old.text[end - 1]) end -= 1;
  const changed = text.slice(at, end);
  const longer = Math.max(0, Math.min(old.text.length, width) - text.length);
  const rest = last && longer > 0 ? `${ESC}[K` : " ".repeat(longer);
  return { at, text: `${paint && changed !== "" ? paint(changed) : changed}${rest}` };
}

/** Fields are the same when they look the same. Their paint functions are called only if they are not one function. */
const isSameField = (a: Field, b: Field): boolean =>
  a.text === b.text && (a.paint === b.paint || painted(a) === painted(b));

const painted = ({ text, paint }: Field): string => (paint && text !== "" ? paint(text) : text);

/** A plain text covers its whole field. */
const blanks = ({ text, width }: Field): string => " ".repeat(Math.max(0, width - widthOf(text)));

/** Characters that are one column wide in every terminal. */
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
