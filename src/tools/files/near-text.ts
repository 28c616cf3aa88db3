import { cutHead } from "../../core/text/cut.ts";
import { printableName } from "../../runtime/files/open-contained.ts";

/** The position of a match; lines are counted from 1. */
export type TextPosition = Readonly<{ index: number; line: number }>;

/** All positions of a passage in a text, in order and without overlaps. */
export function placesOf(text: string, wanted: string): TextPosition[] {
  const places: TextPosition[] = [];
  let line = 1;
  let from = 0;
  for (let index = text.indexOf(wanted); index >= 0; index = text.indexOf(wanted, index + wanted.length)) {
    line += countLines(text, from, index);
    from = index;
    places.push({ index, line });
  }
  return places;
}

const MOST_SHOWN = 3;
const MOST_LINES = 50_000;

/** The error for a text that was not found, with the most similar places. */
export function missingText(text: string, wanted: string, file: string): string {
  const lines = text.split("\n").slice(0, MOST_LINES);
  const sought = wanted
    .split("\n")
    .map(bare)
    .filter((line, at, all) => line !== "" || (at > 0 && at < all.length - 1));
  const alike = startsOf(lines, sought);
  if (alike.length > 0) {
    return `oldText is not in ${file}. The text at line ${alike.slice(0, MOST_SHOWN).join(", ")} differs only in whitespace or line endings: read the file and copy it exactly`;
  }
  const first = sought.find((line) => line.length > 2) ?? bare(wanted);
  const near = lines
    .map((line, at) => ({ line, at, like: likeness(bare(line), first) }))
    .filter(({ like }) => like >= 0.5)
    .toSorted((one, other) => other.like - one.like || one.at - other.at)
    .slice(0, MOST_SHOWN)
    .toSorted((one, other) => one.at - other.at);
  if (near.length === 0) return `oldText is not in ${file}, and neither is similar text: read the file first`;
  const shown = near.map(({ line, at }) => `line ${at + 1}: ${printableName(cutHead(line, 200).text)}`);
  return `oldText is not in ${file}. The most similar lines:\n${shown.join("\n")}\nRead the file and copy the text exactly`;
}

const bare = (line: string): string => line.trim().replace(/\s+/g, " ");

/** The numbers of the lines at which the sought block of lines begins, ignoring whitespace. */
function startsOf(lines: readonly string[], sought: readonly string[]): number[] {
  if (sought.length === 0) return [];
  const plain = lines.map(bare);
  return plain.flatMap((line, at) =>
    line === sought[0] && sought.every((each, n) => plain[at + n] === each) ? [at + 1] : [],
  );
}

/** The similarity of two lines, from 0 to 1: the share of common letter pairs. */
function likeness(one: string, other: string): number {
  if (one.length < 2 || other.length < 2 || one.length > 1_000) return one === other ? 1 : 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at < one.length - 1; at++)
    pairs.set(one.slice(at, at + 2), (pairs.get(one.slice(at, at + 2)) ?? 0) + 1);
  let shared = 0;
  for (let at = 0; at < other.length - 1; at++) {
    const left = pairs.get(other.slice(at, at + 2)) ?? 0;
    if (left > 0) shared++;
    pairs.set(other.slice(at, at + 2), left - 1);
  }
  return (2 * shared) / (one.length + other.length - 2);
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
