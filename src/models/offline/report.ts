import type { Evidence } from "./evidence.ts";
import type { Clause, Question } from "./question.ts";
import { type Place, ranked, type Scored } from "./rank.ts";

/** One place worth looking at. */
export type Finding = Readonly<{
  path: string;
  line: number;
  /** The line as it stands in the file. */
  quote: string;
  /** Further lines of the file that speak for it, in their order; the first one included. */
  lines: readonly Readonly<{ number: number; text: string }>[];
  symbol?: string | undefined;
  reason: string;
}>;

/** The findings for one part of the question. */
export type Section = Readonly<{ clause: Clause; findings: readonly Finding[] }>;

const MOST_FINDINGS = 4;
const MOST_LINES = 5;

/** The best places for each part of the question. A file is explained once; other parts only point to it. */
export function sectionsOf(question: Question, evidence: Evidence): Section[] {
  return question.clauses.map((clause) => {
    const places = ranked(evidence, clause.terms, question);
    const least = (places[0]?.score ?? 0) * 0.25;
    return { clause, findings: places.slice(0, MOST_FINDINGS).filter(({ score }) => score >= least).map((place) => findingIn(place, evidence)) };
  });
}

/** Lines that came with the task and say most: places in files, headings, and what matches the question. */
export function keyLines({ material, clauses }: Question, most = 8): string[] {
  const terms = clauses.flatMap((clause) => clause.terms);
  const scored = material.map((text, at) => ({ text: text.trim(), at, score: worthOfLine(text, terms.filter(({ either }) => either.test(text)).length) }));
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.at - b.at).slice(0, most);
  return [...new Set(best.sort((a, b) => a.at - b.at).map(({ text }) => text))];
}

function worthOfLine(text: string, matching: number): number {
  if (/^\s*(?:[-=*_#>|`~\s]*)$/.test(text)) return 0;
  const place = /[\w/-]+\.\w+:\d+/.test(text) ? 3 : 0;
  const heading = /^\s*(?:#{1,4}\s|\*\*)/.test(text) ? 1 : 0;
  return place + heading + matching * 2 + (text.trim().length > 30 ? 0.5 : 0.1);
}

function findingIn(place: Place, evidence: Evidence): Finding {
  const [best] = place.lines;
  const seen = evidence.files.get(place.path) ?? new Map<number, string>();
  const main = best === undefined ? firstOf(seen) : codeBelow(best, seen);
  const extra = place.lines.slice(0, MOST_LINES - 1).filter(({ score }) => score > (best?.score ?? 0) * 0.3);
  const numbers = [...new Set([main.number, ...(best === undefined ? [] : [best.number]), ...extra.map(({ number }) => number)])];
  return {
    path: place.path,
    line: main.number,
    quote: main.text.trim(),
    lines: numbers.sort((a, b) => a - b).slice(0, MOST_LINES).map((number) => ({ number, text: seen.get(number) ?? "" })),
    symbol: main.defines ?? place.lines.find(({ defines }) => defines !== undefined)?.defines,
    reason: `matches ${place.terms.join(", ")}`,
  };
}

type Main = Readonly<{ number: number; text: string; defines?: string }>;

const firstOf = (seen: ReadonlyMap<number, string>): Main => {
  const [number = 1, text = ""] = [...seen][0] ?? [];
  return { number, text };
};

/** A comment explains the line that follows it, and that is the place to go to. */
function codeBelow(line: Scored, seen: ReadonlyMap<number, string>): Main {
  const isComment = (text: string): boolean => /^\s*(?:\/\*|\*|\/\/|#(?!\s*[A-Z][^.]*$))/.test(text);
  if (!isComment(line.text)) return line;
  for (let number = line.number + 1; number < line.number + 15; number++) {
    const text = seen.get(number);
    if (text === undefined) break;
    if (text.trim() !== "" && !isComment(text)) return { number, text };
  }
  return line;
}
