/** The rows in which every word of a search stands, in any of their texts and in any case. No words: all rows. */
export function searchRows<Row>(
  rows: readonly Row[],
  words: readonly string[],
  textsOf: (row: Row) => readonly (string | undefined)[],
): Row[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  return rows.filter((row) => {
    const text = textsOf(row).join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
