import type { ParsedQuestion } from "./question.ts";

/**
 * The most relevant lines of texts that were attached to the task, in their order: references to places in files (such
 * as `src/a.ts:12`), headings, and lines that match the question.
 */
export function keyLines({ material, clauses }: ParsedQuestion, most = 8): string[] {
  const terms = clauses.flatMap((clause) => clause.terms);
  const scored = material.map((line, at) => {
    const text = line.slice(0, 400).trim();
    return { text, at, score: worthOf(text, terms.filter(({ either }) => either.test(text)).length) };
  });
  const best = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, most);
  return [...new Set(best.sort((a, b) => a.at - b.at).map(({ text }) => text))];
}

function worthOf(text: string, matching: number): number {
  if (/^[-=*_#>|`~\s]*$/.test(text)) return 0;
  const place = /[\w/-]\.\w+:\d+/.test(text) ? 3 : 0;
  const heading = /^(?:#{1,4}\s|\*\*)/.test(text) ? 1 : 0;
  return place + heading + matching * 2 + (text.length > 30 ? 0.5 : 0.1);
}
