import { widthOf } from "../../core/view/fit.ts";

/** A text at a fixed column of a row. It has no control characters and fits the width. */
export type Field = Readonly<{ column: number; width: number; text: string; paint?: (text: string) => string }>;

/** A whole screen: one row per terminal row, each with non-overlapping fields from left to right. */
export type FieldFrame = Readonly<{
  columns: number;
  rows: readonly (readonly Field[])[];
  cursor?: Readonly<{ row: number; column: number }>;
  /** The title of the terminal's window. */
  title?: string;
}>;

/**
 * The alternate screen of a terminal, drawn as fields. Only changed fields are written, each frame in one write.
 * Terminals disagree on the width of many characters. So a field with non-ASCII characters is cleared before it is
 * written, and the fields to the right of it are written again: the result never depends on the earlier content.
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

  /** Restores the terminal. This may be called at any time, also twice; the next frame opens the screen again. */
  close(): void {
    this.#shown = undefined;
    if (this.#open) this.#write(LEAVE);
    this.#open = false;
    this.#cursor = "";
  }
}

const ESC = "\u001b";
/**
 * Saves the window's title and enters the alternate screen with wrapping off, so that a character of unexpected width
 * cannot spill into the next row.
 */
const ENTER = `${ESC}[22;0t${ESC}[?1049h${ESC}[?7l`;
/** Leaves the alternate screen, undoes the changes of `ENTER` and shows the cursor. */
const LEAVE = `${ESC}[?7h${ESC}[?1049l${ESC}[?25h${ESC}[23;0t`;

const place = (row: number, column: number): string => `${ESC}[${row + 1};${column + 1}H`;

/** The output to the terminal that changes a row from the fields `before` to these fields. */
function rowText(row: readonly Field[], before: readonly Field[], at: number): string {
  if (row === before) return "";
  const sameLayout = hasSameLayout(row, before);
  if (row.length === 0) return before.length === 0 ? "" : `${place(at, 0)}${ESC}[K`;
  let text = sameLayout || before.length === 0 ? "" : `${place(at, 0)}${ESC}[K`;
  let spill = !sameLayout; // true when this field and all fields after it are written again
  let next = -1; // the column of the cursor, or -1 when it is unknown
  for (let index = 0; index < row.length; index += 1) {
    const field = row[index]!;
    const old = sameLayout ? before[index]! : undefined;
    if (!spill && old && (old === field || isSameField(old, field))) continue;
    const last = index === row.length - 1;
    const plain = isPlain(field.text);
    if (!spill && old && plain && isPlain(old.text) && old.paint === field.paint) {
      const part = changedPart(old, field, last);
      const from = field.column + part.at;
      text += `${next === from ? "" : place(at, from)}${part.text}`;
      next = -1; // after a text that ends in the last column, the cursor is still on that column
      continue;
    }
    const to = next === field.column ? "" : place(at, field.column);
    // The rest of the row is erased first, because after a text that ends in the last column the cursor is still on
    // that column.
    if (last) text += `${to}${ESC}[K${painted(field)}`;
    else if (plain) text += `${to}${painted(field)}${blanks(field)}`;
    else text += `${to}${" ".repeat(field.width)}${place(at, field.column)}${painted(field)}`;
    if (!plain || (old && !isPlain(old.text))) spill = true;
    next = plain ? field.column + field.width : -1;
  }
  return text;
}

function hasSameLayout(row: readonly Field[], before: readonly Field[]): boolean {
  if (row.length !== before.length) return false;
  for (let index = 0; index < row.length; index += 1) {
    const field = row[index]!;
    const old = before[index]!;
    if (field !== old && (field.column !== old.column || field.width !== old.width)) return false;
  }
  return true;
}

/** The changed characters of a plain field, and spaces over the rest of a longer old text. */
function changedPart(old: Field, { text, paint, width }: Field, last: boolean): Readonly<{ at: number; text: string }> {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) === old.text.charCodeAt(at)) at += 1;
  let end = text.length;
  if (text.length === old.text.length)
    while (end > at && text.charCodeAt(end - 1) === old.text.charCodeAt(end - 1)) end -= 1;
  const changed = text.slice(at, end);
  const longer = Math.max(0, Math.min(old.text.length, width) - text.length);
  const rest = last && longer > 0 ? `${ESC}[K` : " ".repeat(longer);
  return { at, text: `${paint && changed !== "" ? paint(changed) : changed}${rest}` };
}

/** True when two fields look the same. Two different paint functions are compared by their results. */
const isSameField = (a: Field, b: Field): boolean =>
  a.text === b.text && (a.paint === b.paint || painted(a) === painted(b));

const painted = ({ text, paint }: Field): string => (paint && text !== "" ? paint(text) : text);

/** Spaces that fill a plain text up to the width of its field. */
const blanks = ({ text, width }: Field): string => " ".repeat(Math.max(0, width - widthOf(text)));

/** True when every character is one column wide in every terminal. */
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
