import { stripVTControlCharacters } from "node:util";
import { widthOf } from "../core/view/fit.ts";

/** A terminal as far as it is needed here. */
export type ScreenTerminal = Readonly<{
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}>;

/** The lines at the bottom of a terminal that change in place. Only lines that differ are written again. */
export class Screen {
  readonly #terminal: ScreenTerminal;
  #lines: readonly string[] = [];
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

  /** Shows these lines in place of the last ones. */
  draw(lines: readonly string[]): void {
    if (this.#columns !== this.columns) this.clear(); // what was there has been wrapped anew
    const before = this.#lines;
    if (lines.length === before.length && lines.every((line, index) => line === before[index])) return;
    const up = before.length > 0 ? `${ESC}[${before.length}A\r` : "\r";
    const body = lines.map((line, index) => (line === before[index] ? "\n" : `${line}${ESC}[K\n`)).join("");
    const rest = lines.length < before.length ? `${ESC}[J` : "";
    this.#terminal.write(`${this.#hidden ? "" : `${ESC}[?25l`}${up}${body}${rest}`);
    this.#hidden = true;
    this.#lines = lines;
  }

  /** Takes the lines away; the next drawing begins where they began. */
  clear(): void {
    if (this.#lines.length > 0) {
      const height = this.#lines.reduce((sum, line) => sum + heightOf(line, this.columns), 0);
      this.#terminal.write(`${ESC}[${height}A\r${ESC}[J`);
    }
    this.#lines = [];
    this.#columns = this.columns;
  }

  /** Takes the lines away and gives the terminal back as it was. Safe to call at any time, also twice. */
  close(): void {
    this.clear();
    if (this.#hidden) this.#terminal.write(`${ESC}[?25h`);
    this.#hidden = false;
  }
}

const ESC = "\u001b";

/** How many rows a line takes in a terminal of this width, which may have become narrower. */
function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
}
