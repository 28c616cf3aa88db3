import { fit } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { type Column, columns as all } from "../../core/view/row-cells.ts";
import { remembering } from "../remember.ts";
import type { Field } from "./field-screen.ts";

/** The positions of the columns in a terminal of this width. */
export type Layout = Readonly<{
  name: Span;
  shown: readonly (Span & Readonly<{ column: Column }>)[];
  /** The columns that do not fit. */
  dropped: readonly Column[];
}>;
type Span = Readonly<{ at: number; width: number }>;

/** The width of the selection mark, the state and a space. */
const HEAD = 4;
/**
 * Widths of the columns, including the space after each; the column for the current activity gets the remaining width.
 */
const widths: Readonly<Record<Exclude<Column, "doing">, number>> = {
  agent: 11,
  model: 14,
  turns: 7,
  context: 5,
  tokens: 7,
  price: 9,
  diff: 11,
  age: 8,
};
const LEAST_DOING = 20;
const MOST_NAME = 44;
const LEAST_NAME = 12;

/** The width of a column. In a wide terminal, model names get more space. */
const widthIn = (column: Column, columns: number): number =>
  column === "doing" ? LEAST_DOING : column === "model" && columns >= WIDE ? widths.model + 6 : widths[column];
const WIDE = 120;

/** Selects the columns that fit. In a narrow terminal the last columns of this list are dropped first. */
export const layoutFor = remembering((columns: number): Layout => {
  const name = Math.max(Math.min(LEAST_NAME, columns - HEAD), Math.min(MOST_NAME, Math.floor(columns * 0.28)));
  let room = columns - HEAD - name;
  const kept: Column[] = [];
  for (const column of all) {
    const width = widthIn(column, columns);
    if (width > room) break;
    kept.push(column);
    room -= width;
  }
  let at = HEAD + name;
  const shown = kept.map((column) => {
    const width = widthIn(column, columns) + (column === "doing" ? room : 0);
    const span = { column, at, width };
    at += width;
    return span;
  });
  return { name: { at: HEAD, width: Math.max(0, name) }, shown, dropped: all.slice(kept.length) };
});

/** A field with this text, with a space at its end if another field follows. */
export function fieldOf(text: string, { at, width }: Span, { signs }: Look, paint?: Field["paint"]): Field {
  const cut = fit(startOf(text), Math.max(0, width - 1), signs.more);
  return { column: at, width, text: cut, ...(paint && { paint }) };
}

/** Removes leading combining marks, because they would change the field to the left. */
const startOf = (text: string): string => (text.charCodeAt(0) < 0x80 ? text : text.replace(LEADING, ""));
const LEADING = /^(?:[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff]|\p{Emoji_Modifier})+/u;

/** The colour of a line of a diff. */
export function diffPaint(text: string, { colors }: Look): Field["paint"] {
  if (text.startsWith("+")) return colors.green;
  return text.startsWith("-") ? colors.red : undefined;
}
