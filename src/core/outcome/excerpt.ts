import { type CutText, cutSummary, keepEnds } from "../text/cut.ts";
import { explain, type ReadOutcome } from "./outcome.ts";
import { limitNote } from "./reached-limit.ts";

/** How many characters of a result its caller reads, unless the agent or the settings say otherwise. */
export const RESULT_CHARS = 24_000;

/** The share of one of several results that arrive together in at most `total` characters. */
export const shareOf = (total: number | undefined, count: number): number =>
  Math.min(RESULT_CHARS, Math.floor((total ?? Number.POSITIVE_INFINITY) / Math.max(1, count)));

/** Marks the place where the middle of a result is left out. */
export const OMITTED = "characters omitted";

/**
 * The part of a result that its caller reads: the whole result, or its beginning and end with a note about the rest.
 * With `summaryCut` it is only the beginning, without a note.
 */
export function resultPart(outcome: ReadOutcome, chars: number = RESULT_CHARS): CutText {
  const said = "output" in outcome ? (outcome.output ?? "") : "";
  const { summaryChars = chars, summaryCut, artifact, file } = outcome;
  if (summaryCut !== undefined) return cutSummary(said, summaryChars, summaryCut);
  const { head, tail, omitted } = keepEnds(said, summaryChars);
  if (omitted === 0) return { text: said, cut: false };
  const size = artifact === undefined ? "" : ` (${artifact.bytes} bytes)`;
  const where = file === undefined ? "the full output was not kept" : `full output${size}: ${file}`;
  return { text: `${head}\n\n... [${omitted} of ${said.length} ${OMITTED}; ${where}]\n\n${tail}`, cut: true };
}

/** What a caller reads about an outcome: the result, or why there is none and what there was until then. */
export function excerptOf(outcome: ReadOutcome, chars?: number): string {
  const { text, cut } = resultPart(outcome, chars);
  const { file, limit, summaryCut } = outcome;
  const rest =
    !cut || summaryCut === undefined ? "" : `\n\n... [truncated${file === undefined ? "" : `, full output: ${file}`}]`;
  const note = limit === undefined ? "" : `\n\n[${limitNote(outcome)}]`;
  if (outcome.status === "ok") return `${text}${rest}${note}`;
  return text === "" ? explain(outcome) : `${explain(outcome)}\n\n${text}${rest}`;
}
