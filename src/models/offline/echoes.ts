import type { Evidence } from "./evidence.ts";
import type { ParsedQuestion } from "./question.ts";
import { STOP_WORDS } from "./words.ts";

/** Files of data, in which inputs and recordings of runs are written. */
export const DATA = /\.(?:json|jsonl|csv|ya?ml|toml|xml|svg|txt)$/i;

/**
 * The evidence without the files of data that hold the question itself: the input of the run, or a recording of an
 * earlier one. They match every word and answer nothing. A file that the question names stays.
 */
export function withoutEchoes(evidence: Evidence, { clauses, paths }: ParsedQuestion): Evidence {
  const sentences = clauses.map(({ text }) => bare(text)).filter(isSentence);
  const echoes = new Set(
    [...evidence.files]
      .filter(([path]) => DATA.test(path) && !paths.includes(path))
      .filter(([, lines]) =>
        [...lines.values()].some((line) => sentences.some((sentence) => bare(line).includes(sentence))),
      )
      .map(([path]) => path),
  );
  if (echoes.size === 0) return evidence;
  const kept = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...map].filter(([path]) => !echoes.has(path)));
  return {
    ...evidence,
    files: kept(evidence.files),
    counts: new Map([...evidence.counts].map(([pattern, counts]) => [pattern, kept(counts)])),
    read: new Set([...evidence.read].filter((path) => !echoes.has(path))),
  };
}

/** True for more than a list of subjects, which any file may hold. */
const isSentence = (text: string): boolean => {
  const all = text.toLowerCase().split(" ");
  return all.length > 1 && all.some((word) => STOP_WORDS.has(word));
};

/** The text without the quotes and escapes of its file format, and with single spaces. */
const bare = (text: string): string =>
  text
    .replace(/["'\\]/g, "")
    .replace(/\s+/g, " ")
    .trim();
