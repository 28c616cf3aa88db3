import type { Tokens } from "marked";
import { pad, widthOf } from "../../core/view/fit.ts";
import { type Span, wrap } from "../wrap.ts";
import type { MarkdownOptions } from "./options.ts";

/** The width of the narrowest readable column. */
const NARROWEST = 6;

/** Formats a table to fit; wide cells are wrapped. A table with too many columns becomes a list of its rows. */
export function tableLines(
  { header, rows, align }: Tokens.Table,
  spansOf: (cell: Tokens.TableCell) => Span[],
  { columns, look }: MarkdownOptions,
): string[] {
  const cells = [header, ...rows].map((row) => row.map(spansOf));
  const natural = header.map((_, at) => Math.max(3, ...cells.map((row) => widest(row[at] ?? []))));
  const between = 3 * (header.length - 1);
  const widths = shrink(natural, columns - between);
  if (widths === undefined) return asList(cells, columns, look.colors.bold);
  const [, , , , line, side] = look.signs.frame;
  const separator = look.colors.dim(widths.map((width) => line.repeat(width)).join(`${line}${line}${line}`));
  const drawn = cells.map((row, index) => {
    const parts = widths.map((width, at) =>
      wrap(bolder(row[at] ?? [], index === 0 ? look.colors.bold : undefined), width),
    );
    const height = Math.max(...parts.map(({ length }) => length));
    return Array.from({ length: height }, (_, y) =>
      parts
        .map((lines, at) => aligned(lines[y] ?? "", widths[at]!, align[at]))
        .join(look.colors.dim(` ${side} `))
        .trimEnd(),
    );
  });
  return [...(drawn[0] ?? []), separator, ...drawn.slice(1).flat()];
}

/** Shrinks the widest columns until all fit; `undefined` when that is impossible. */
function shrink(natural: readonly number[], room: number): number[] | undefined {
  const widths = [...natural];
  if (widths.reduce((sum, width) => sum + Math.min(width, NARROWEST), 0) > room) return undefined;
  for (let sum = widths.reduce((a, b) => a + b, 0); sum > room; sum -= 1) {
    const at = widths.indexOf(Math.max(...widths));
    if (widths[at]! <= NARROWEST) return undefined;
    widths[at]! -= 1;
  }
  return widths;
}

function asList(
  [header = [], ...rows]: readonly (readonly Span[][])[],
  columns: number,
  bold: (text: string) => string,
): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...row.flatMap((cell, at) =>
      wrap([...bolder(header[at] ?? [], bold), { text: ": " }, ...cell], columns, { first: "", rest: "  " }),
    ),
  ]);
}

const bolder = (spans: readonly Span[], bold: ((text: string) => string) | undefined): Span[] =>
  spans.map((span) => (bold ? { ...span, style: bold } : span));

const widest = (spans: readonly Span[]): number =>
  Math.max(
    ...spans
      .map(({ text }) => text)
      .join("")
      .split("\n")
      .map(widthOf),
  );

function aligned(text: string, width: number, how: "center" | "left" | "right" | null | undefined): string {
  const free = Math.max(0, width - widthOf(text));
  if (how === "right") return " ".repeat(free) + text;
  if (how === "center") return " ".repeat(Math.floor(free / 2)) + text + " ".repeat(Math.ceil(free / 2));
  return pad(text, width);
}
