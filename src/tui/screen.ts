import { stripVTControlCharacters } from "node:util";
import { widthOf } from "../core/view/fit.ts";
import { clustersOf } from "./wrap.ts";

/** The properties of a terminal that drawing depends on. */
export type ScreenTerminal = Readonly<{
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
  /**
   * False for a terminal that, when it becomes narrower, cuts the cursor row instead of wrapping it, as xterm.js
   * does.
   */
  readonly wrapsCursorRow?: boolean;
}>;

/** The content of one drawing: lines for the scrollback, the rows below them, and the cursor position in those rows. */
export type ScreenFrame = Readonly<{
  print?: readonly string[];
  rows: readonly string[];
  cursor?: Readonly<{ row: number; column: number }> | undefined;
}>;

/**
 * Rows at the bottom of a terminal that change in place, below a scrollback that only grows. A frame is one write, so
 * the terminal shows it at once. Only changed rows are written again.
 */
export class Screen {
  readonly #terminal: ScreenTerminal;
  #rows: readonly string[] = [];
  /** The row and column of the cursor after the last drawing. */
  #at = { row: 0, column: 0 };
  #columns: number;
  #hidden = false;

  constructor(terminal: ScreenTerminal) {
    this.#terminal = terminal;
    this.#columns = this.columns;
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  get rows(): number {
    return this.#terminal.rows || 24;
  }

  /** Replaces the rows. Without a cursor position the cursor is hidden. */
  draw(rows: readonly string[], cursor?: ScreenFrame["cursor"]): void {
    this.frame({ rows, cursor });
  }

  frame({ print = [], rows, cursor }: ScreenFrame): void {
    const resized = this.#columns !== this.columns;
    const before = this.#rows;
    const same = rows.length === before.length && rows.every((row, index) => row === before[index]);
    const moved = cursor ? cursor.row !== this.#at.row || cursor.column !== this.#at.column : !this.#hidden;
    if (!resized && same && !moved && print.length === 0) return;
    const fresh = resized || print.length > 0; // every row has moved, so all of them are drawn
    const top = this.#toTop();
    const above = print
      .flatMap((line) => brokenLine(line, this.columns))
      .map((line) => `${line}${ESC}[K\r\n`)
      .join("");
    const shorter = rows.length < before.length;
    const kept = (row: string, index: number): boolean =>
      !fresh && row === before[index] && !(shorter && index === rows.length - 1);
    const body = rows.map((row, index) => (kept(row, index) ? "" : `${row}${ESC}[K`)).join("\r\n");
    const rest = fresh || shorter ? `${ESC}[J` : "";
    const erase = resized ? `${ESC}[J` : "";
    this.#write(`${top}${erase}${above}${body}${rest}${this.#place(rows, cursor)}`);
    this.#rows = rows;
    this.#columns = this.columns;
  }

  /** Erases the rows; the next drawing starts at the same place. */
  clear(): void {
    if (this.#rows.length > 0) this.#write(`${this.#toTop()}${ESC}[J`);
    this.#rows = [];
    this.#at = { row: 0, column: 0 };
    this.#columns = this.columns;
  }

  /** Erases the rows and restores the terminal. This may be called at any time, also twice. */
  close(): void {
    this.clear();
    if (this.#hidden) this.#terminal.write(`${ESC}[?25h`);
    this.#hidden = false;
  }

  /** Moves the cursor to the first row. A terminal that became narrower may have wrapped the rows again. */
  #toTop(): string {
    const above = this.#rows.slice(0, this.#at.row).reduce((sum, row) => sum + heightOf(row, this.columns), 0);
    const wrapped = this.#terminal.wrapsCursorRow === false ? 0 : Math.floor(this.#at.column / this.columns);
    const up = above + wrapped;
    return `${up > 0 ? `${ESC}[${up}A` : ""}\r`;
  }

  #place(rows: readonly string[], cursor: ScreenFrame["cursor"]): string {
    const last = Math.max(0, rows.length - 1);
    if (!cursor) {
      this.#at = { row: last, column: widthOf(stripVTControlCharacters(rows[last] ?? "")) };
      const hide = this.#hidden ? "" : `${ESC}[?25l`;
      this.#hidden = true;
      return hide;
    }
    const show = this.#hidden ? `${ESC}[?25h` : "";
    this.#hidden = false;
    this.#at = { row: cursor.row, column: cursor.column };
    const up = last - cursor.row;
    return `${up > 0 ? `${ESC}[${up}A` : ""}\r${cursor.column > 0 ? `${ESC}[${cursor.column}C` : ""}${show}`;
  }

  /** Writes with synchronised output: the terminal shows the frame when it is complete. */
  #write(text: string): void {
    this.#terminal.write(`${ESC}[?2026h${text}${ESC}[?2026l`);
  }
}

const ESC = "\u001b";

/**
 * Wraps a printed line that is wider than the terminal between words; colours continue in the next row. The next row
 * begins below the text after a wide gap, or with the same indent. A word that is wider than a row is left to the
 * terminal, so that a copied link stays whole.
 */
function brokenLine(line: string, columns: number): string[] {
  if (line.length <= columns / 2 || widthOf(stripVTControlCharacters(line)) <= columns) return [line];
  const plain = stripVTControlCharacters(line);
  const [column = ""] = /^ *\S.{0,60}? {2,}(?=\S)/.exec(plain) ?? [];
  const start = column !== "" && widthOf(column) <= columns / 2 ? widthOf(column) : /^ */.exec(plain)![0].length;
  const indent = " ".repeat(Math.min(start, Math.floor(columns / 2)));
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const part of line.split(/(?<=\S)(?= )/)) {
    const wide = widthOf(stripVTControlCharacters(part));
    if (width > 0 && width + wide > columns) {
      rows.push(row);
      const word = part.trimStart();
      row = `${indent}${word}`;
      width = indent.length + widthOf(stripVTControlCharacters(word));
    } else {
      row += part;
      width += wide;
    }
  }
  return [...rows, row];
}

/** The number of rows that a line takes in a terminal of this width, which may have become narrower. */
function heightOf(line: string, columns: number): number {
  const text = stripVTControlCharacters(line);
  if (widthOf(text) <= columns) return 1;
  let rows = 1;
  let used = 0;
  for (const cluster of clustersOf(text)) {
    const width = widthOf(cluster);
    if (used + width > columns) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}
