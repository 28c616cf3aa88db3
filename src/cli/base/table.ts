import { fit, pad, widthOf } from "../../core/view/fit.ts";
import { type Look, stateColor } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";

/**
 * Formats rows as columns. On a terminal the last column is cut at the right edge; in a pipe it is printed whole.
 * `most` limits the width of columns on a terminal, so that the last column has room. A last column with such a limit
 * may continue on the next line. A column named `status` has the colours of states; a row in capitals is a heading.
 */
export function table(
  rows: readonly Readonly<Record<string, string>>[],
  look: Look,
  most: Readonly<Record<string, number>> = {},
): string {
  const { colors, signs } = look;
  const keys = Object.keys(rows[0] ?? {});
  const bound = (key: string): number =>
    process.stdout.isTTY ? (most[key] ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const cells = rows.map((row) => keys.map((key) => fit(terminalLine(row[key] ?? ""), bound(key), signs.more)));
  const widths = keys.map((_, column) => Math.max(0, ...cells.map((row) => widthOf(row[column] ?? ""))));
  if (process.stdout.isTTY) narrow(widths, keys.indexOf("status"), process.stdout.columns - 1);
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const room = process.stdout.isTTY
    ? (most[keys.at(-1) ?? ""] ?? Math.max(10, process.stdout.columns - before - 1))
    : Number.POSITIVE_INFINITY;
  const cut = cells.map((row) =>
    row.map((cell, column) => (column === keys.length - 1 ? cell : fit(cell, widths[column] ?? 0, signs.more))),
  );
  const lines = cut.map((row) =>
    (isHeading(row)
      ? row.map((cell, column) => colors.dim(column === keys.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
      : row.map((cell, column) =>
          column === keys.length - 1
            ? fit(cell, room, signs.more)
            : column === 0
              ? colors.bold(pad(cell, widths[0] ?? 0))
              : keys[column] === "status"
                ? stateColor(look, cell.split(" ", 1)[0] ?? "")(pad(cell, widths[column] ?? 0))
                : pad(cell, widths[column] ?? 0),
        )
    ).join("  "),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/**
 * Shrinks the widest columns until the table fits. The first column and the status keep their width; the last column is
 * cut later.
 */
function narrow(widths: number[], state: number, columns: number): void {
  const last = widths.length - 1;
  const total = (): number =>
    widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0) + Math.min(widths[last] ?? 0, LEAST_LAST);
  while (total() > columns) {
    let widest = 0;
    for (let at = 1; at < last; at += 1)
      if (at !== state && widths[at]! > (widest === 0 ? LEAST : widths[widest]!)) widest = at;
    if (widest === 0) return;
    widths[widest]! -= 1;
  }
}
const LEAST = 8;
const LEAST_LAST = 16;

const isHeading = (row: readonly string[]): boolean => row.every((cell) => /^[A-Z]+$/.test(cell));
