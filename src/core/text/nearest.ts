/**
 * The candidate that a person most likely meant, or `undefined` when none is close. The same word in another case wins,
 * otherwise the candidate with the fewest typos (a letter added, missing, wrong, or two swapped). Of two equally good
 * candidates the earlier wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted.length === 0 || wanted.length > LONGEST) return undefined;
  let best: string | undefined;
  let limit = typosAllowed(wanted.length);
  const rows: Rows = [emptyRow(), emptyRow(), emptyRow()];
  const letters = lettersIn(wanted);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) > typosAllowed(LONGEST)) continue;
    const offered = candidate.toLowerCase();
    if (offered === wanted) return candidate;
    if (limit < 1 || offered.length > LONGEST || countOf(letters & ~lettersIn(offered)) > limit) continue;
    const typos = distance(wanted, offered, { limit, rows });
    if (typos > limit) continue;
    best = candidate;
    limit = typos - 1;
  }
  return best;
}

/** Maximum length of words that are compared. */
const LONGEST = 64;

type Rows = [Uint8Array, Uint8Array, Uint8Array];

const emptyRow = (): Uint8Array => new Uint8Array(LONGEST + 1);

/** The letters of a word as a set of 32 bits. A typo removes at most one of them. */
function lettersIn(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function countOf(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/**
 * How many typos a word of this length may have. In short words two typos make another word, as in "nope" and "code".
 */
function typosAllowed(length: number): number {
  if (length <= 4) return 1;
  return length <= 7 ? 2 : 3;
}

/** Damerau-Levenshtein with adjacent swaps; a result above `limit` only means "more than the limit". */
function distance(a: string, b: string, { limit, rows }: { limit: number; rows: Rows }): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [before, above, row] = rows;
  for (let j = 0; j <= b.length; j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let smallest = i;
    const letter = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1);
      let cell = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (letter === other ? 0 : 1));
      const swapped = i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other;
      if (swapped) cell = Math.min(cell, before[j - 2]! + 1);
      row[j] = cell;
      if (cell < smallest) smallest = cell;
    }
    if (smallest > limit) return limit + 1;
    [before, above, row] = [above, row, before];
  }
  return above[b.length]!;
}
