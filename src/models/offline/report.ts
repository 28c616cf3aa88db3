import type { Evidence } from "./evidence.ts";
import type { Clause, ParsedQuestion } from "./question.ts";
import { definedIn, type RankedFile, ranked, type ScoredLine } from "./rank.ts";

/** A place in a file that the offline model's answer quotes. */
export type ReportedPlace = Readonly<{
  path: string;
  line: number;
  /** The text of the quoted line. */
  quote: string;
  /** The relevant lines of the file, in their order, including the first line. */
  lines: readonly Readonly<{ number: number; text: string }>[];
  symbol?: string | undefined;
  reason: string;
}>;

/** The findings for one part of the question, or for a file that it names. */
export type Section = Readonly<{
  title: string;
  findings: readonly ReportedPlace[];
  /** Further places in files, as `path:line`. */
  more: readonly string[];
}>;

const MOST_FINDINGS = 4;
const MOST_LINES = 6;
const MOST_OUTLINE = 12;

/** Sections about the named files, then the best places for each part of the question. */
export function sectionsOf(question: ParsedQuestion, evidence: Evidence): Section[] {
  const outlines = question.paths
    .filter((path) => evidence.read.has(path))
    .map((path) => ({ title: path, findings: [outlineOf(path, evidence)], more: [] }));
  return [...outlines, ...question.clauses.map((clause) => sectionOf(clause, question, evidence))];
}

function sectionOf({ text, terms }: Clause, question: ParsedQuestion, evidence: Evidence): Section {
  const places = ranked(evidence, terms, question).filter(({ lines }) => lines.length > 0);
  const least = (places[0]?.score ?? 0) * 0.25;
  const good = places.filter(({ score }) => score >= least);
  return {
    title: text,
    findings: good.slice(0, MOST_FINDINGS).map((place) => findingIn(place, evidence)),
    more: good.slice(MOST_FINDINGS, 2 * MOST_FINDINGS).map(({ path, lines }) => `${path}:${lines[0]?.number ?? 1}`),
  };
}

/** Describes a file by the names that it defines (functions, classes, headings). */
function outlineOf(path: string, evidence: Evidence): ReportedPlace {
  const seen = evidence.files.get(path) ?? new Map<number, string>();
  const defining = [...seen]
    .filter(([, text]) => definedIn(text) !== undefined)
    .map(([number, text]) => ({ number, text }));
  const lines = (defining.length > 0 ? defining : [...seen].map(([number, text]) => ({ number, text }))).slice(
    0,
    MOST_OUTLINE,
  );
  const { number = 1, text = "" } = lines[0] ?? {};
  return {
    path,
    line: number,
    quote: text.trim(),
    lines,
    symbol: definedIn(text),
    reason: `named in the question, ${seen.size} lines read`,
  };
}

function findingIn({ path, lines, terms }: RankedFile, evidence: Evidence): ReportedPlace {
  const [best] = lines;
  const seen = evidence.files.get(path) ?? new Map<number, string>();
  const main = best === undefined ? firstOf(seen) : codeBelow(best, seen);
  const others = lines.filter(({ score }) => score > (best?.score ?? 0) * 0.3).map(({ number }) => number);
  const numbers = [...new Set([main.number, ...commentAbove(main.number, seen), ...others])].slice(0, MOST_LINES);
  return {
    path,
    line: main.number,
    quote: main.text.trim(),
    lines: numbers.sort((a, b) => a - b).map((number) => ({ number, text: seen.get(number) ?? "" })),
    symbol: nameAround(main.number, seen),
    reason: `matches ${terms.join(", ")}`,
  };
}

/** The definition on the line or around it, judging by the lines above it that tools have shown. */
function nameAround(number: number, seen: ReadonlyMap<number, string>): string | undefined {
  const own = definedIn(seen.get(number) ?? "");
  for (let at = number; own === undefined && at > number - 100; at--) {
    const text = seen.get(at);
    if (text === undefined) return undefined;
    if (/^\S/.test(text) && definedIn(text) !== undefined) return definedIn(text);
  }
  return own;
}

/** The lines of the comment that explains a line, without lines that only open or close the comment. */
function commentAbove(number: number, seen: ReadonlyMap<number, string>): number[] {
  const above: number[] = [];
  for (let at = number - 1; isComment(seen.get(at) ?? ""); at--)
    if (/[\p{L}\p{N}]/u.test(seen.get(at) ?? "")) above.push(at);
  return above.reverse().slice(0, 3);
}

/** True for a comment line in code. A Markdown heading begins with the same mark as a comment of some languages. */
const isComment = (text: string): boolean => /^\s*(?:\/\*|\*|\/\/|#(?!\s*[A-Z][^.]*$))/.test(text);

type Main = Readonly<{ number: number; text: string }>;

const firstOf = (seen: ReadonlyMap<number, string>): Main => {
  const [number = 1, text = ""] = [...seen][0] ?? [];
  return { number, text };
};

/** The line that a comment explains: the first line of code below it. */
function codeBelow(line: ScoredLine, seen: ReadonlyMap<number, string>): Main {
  if (!isComment(line.text)) return line;
  for (let number = line.number + 1; number < line.number + 15; number++) {
    const text = seen.get(number);
    if (text === undefined) break;
    if (text.trim() !== "" && !isComment(text)) return { number, text };
  }
  return line;
}
