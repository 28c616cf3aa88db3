import { alternatives, fits, type NamePattern, type PathPattern, parsePattern } from "./glob.ts";

/**
 * Whether some path could match both globs, relative to the same folder. In doubt it returns true: it ignores letter
 * case, and assumes that two classes of characters have a character in common.
 */
export function globsMeet(one: string, other: string): boolean {
  return patternsOf(one).some((ours) => patternsOf(other).some((theirs) => pathsMeet(ours, theirs)));
}

function patternsOf(glob: string): PathPattern[] {
  return alternatives(glob.toLowerCase().replace(/^\/+/, "")).map(parsePattern);
}

const pathsMeet = (ours: PathPattern, theirs: PathPattern): boolean =>
  meet(ours, theirs, {
    isSpan: (step) => step === "**",
    both: (a, b) => namesMeet(a as NamePattern, b as NamePattern),
  });

type Token = NamePattern[number];

const namesMeet = (ours: NamePattern, theirs: NamePattern): boolean =>
  meet(ours, theirs, { isSpan: (token) => token === "*", both: charactersMeet });

function charactersMeet(one: Token, other: Token): boolean {
  if (typeof one === "string" || typeof other === "string") return true;
  if ("exact" in one) return fits(other, one.exact);
  return "exact" in other ? fits(one, other.exact) : true;
}

type Meeting<T> = Readonly<{ isSpan(step: T): boolean; both(one: T, other: T): boolean }>;

/**
 * Whether two patterns can match the same text. A span in a pattern, such as `*`, stands for any number of elements.
 * The time is proportional to the product of the lengths.
 */
function meet<T>(ours: readonly T[], theirs: readonly T[], { isSpan, both }: Meeting<T>): boolean {
  const spans = (list: readonly T[], at: number): boolean => at < list.length && isSpan(list[at]!);
  /**
   * For each pair of positions in two patterns: whether the rest of the first pattern can match the same text as the
   * rest of the second. Computed from the ends backwards.
   */
  let after: boolean[] = [];
  for (let i = ours.length; i >= 0; i--) {
    const row: boolean[] = [];
    for (let j = theirs.length; j >= 0; j--) {
      const step =
        i < ours.length && j < theirs.length && !spans(ours, i) && !spans(theirs, j) && both(ours[i]!, theirs[j]!);
      row[j] =
        (i === ours.length && j === theirs.length) ||
        (spans(ours, i) && (after[j]! || (j < theirs.length && row[j + 1]!))) ||
        (spans(theirs, j) && (row[j + 1]! || (i < ours.length && after[j]!))) ||
        (step && after[j + 1]!);
    }
    after = row;
  }
  return after[0]!;
}
