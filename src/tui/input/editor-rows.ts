import { sanitize } from "../../core/text/sanitize.ts";
import { widthOf } from "../../core/view/fit.ts";
import { clustersOf } from "../wrap.ts";
import type { TextEditor } from "./editor.ts";

/** A position in the drawn rows. */
export type CursorPlace = Readonly<{ row: number; column: number }>;

/** The space on the screen for the edited text. */
export type EditorRoom = Readonly<{ columns: number; rows: number; prompt: string }>;

/** Draws the text as rows, with the cursor position. Of a long text, the part around the cursor is shown. */
export function editorRows(
  { text, cursor }: TextEditor,
  { columns, rows: most, prompt }: EditorRoom,
): Readonly<{ rows: string[]; cursor: CursorPlace }> {
  const indent = " ".repeat(widthOf(prompt));
  const rows: string[] = [prompt];
  let used = widthOf(prompt);
  let place: CursorPlace = { row: 0, column: used };
  let at = 0;
  const next = (): void => {
    rows.push(indent);
    used = indent.length;
  };
  for (const cluster of clustersOf(text)) {
    if (at === cursor) place = { row: rows.length - 1, column: used };
    at += cluster.length;
    if (cluster === "\n") {
      next();
      continue;
    }
    const shown = cluster === "\t" ? "    " : sanitize(cluster);
    const width = widthOf(shown);
    if (used + width > columns) next();
    if (at - cluster.length === cursor) place = { row: rows.length - 1, column: used };
    rows[rows.length - 1] += shown;
    used += width;
  }
  if (at === cursor) {
    if (used >= columns) next();
    place = { row: rows.length - 1, column: used };
  }
  return visiblePart(rows, place, { most, indent });
}

/** At most `most` rows, including the row of the cursor, and the number of hidden rows. */
function visiblePart(
  rows: string[],
  cursor: CursorPlace,
  { most, indent }: Readonly<{ most: number; indent: string }>,
): Readonly<{ rows: string[]; cursor: CursorPlace }> {
  if (rows.length <= most) return { rows, cursor };
  const first = Math.min(Math.max(0, cursor.row - most + 2), rows.length - most);
  const from = cursor.row < most - 1 ? 0 : first;
  const shown = rows.slice(from, from + most);
  const above = from > 0 ? from + 1 : 0;
  const below = rows.length - (from + most);
  if (above > 0) shown[0] = `${indent}(${above} rows above)`;
  if (below > 0) shown[most - 1] = `${indent}(${below + 1} rows below)`;
  return { rows: shown, cursor: { row: cursor.row - from, column: cursor.column } };
}
