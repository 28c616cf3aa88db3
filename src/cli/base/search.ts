/** The rows that contain every search word, in any of their texts, ignoring case. Without words, all rows. */
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
