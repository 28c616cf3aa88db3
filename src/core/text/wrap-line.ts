/**
 * A line as rows of the terminal's width, never broken within a command in backticks. Further rows are indented like
 * the first row, at least by two. Every character counts as one column: the table of wide characters would have to be
 * loaded with every command, and the terminal itself wraps a row that is too wide.
 */
export function wrapLine(line: string, columns: number | undefined): readonly string[] {
  if (columns === undefined || line.length <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? "";
  const further = " ".repeat(Math.max(2, indent.length));
  const rows: string[] = [];
  let row = indent;
  for (const word of line.slice(indent.length).match(/(?:`[^`]*`|[^\s`])+ *|` */g) ?? []) {
    const longer = `${row}${word}`;
    if (longer.trimEnd().length > columns && row.trim() !== "") {
      rows.push(row.trimEnd());
      row = `${further}${word}`;
    } else row = longer;
  }
  return [...rows, row.trimEnd()];
}
