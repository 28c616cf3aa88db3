import { fit, pad, widthOf } from "../../core/view/fit.ts";
import { type Look, stateColor } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";

/**
 * Rows as columns; the last one is cut where the terminal ends, and is whole where there is none. `most` bounds
 * columns on a terminal, so that the last one has room; with a bound of its own that one may also go on in the next line.
 * A column named `status` has the colours of states; a row of capitals is a heading.
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
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const room = process.stdout.isTTY
    ? (most[keys.at(-1) ?? ""] ?? Math.max(10, process.stdout.columns - before - 1))
    : Number.POSITIVE_INFINITY;
  const lines = cells.map((row) =>
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

const isHeading = (row: readonly string[]): boolean => row.every((cell) => /^[A-Z]+$/.test(cell));
