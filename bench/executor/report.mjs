// @ts-check

/**
 * The result of one part of the benchmark: a table for people, the raw numbers for the file, and the missed limits.
 *
 * @typedef {{ title: string, how: string, columns: string[], rows: string[][], failed: string[], raw: Record<string, unknown> }} Report
 */

/**
 * @param {Report} report
 * @returns {string}
 */
export function formatted({ title, how, columns, rows }) {
  const lines = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => padded(cell, column, widths))
      .join("  ")
      .trimEnd(),
  );
  return `${title}\n(${how})\n\n${table.join("\n")}\n`;
}

/**
 * Aligns names and verdicts to the left, numbers to the right.
 *
 * @param {string} cell
 * @param {number} column
 * @param {readonly number[]} widths
 */
function padded(cell, column, widths) {
  const width = widths[column] ?? 0;
  return column === 0 || column === widths.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}
