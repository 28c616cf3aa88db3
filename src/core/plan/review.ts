/**
 * What a reviewer decided. The last line `APPROVED` or `REVISION_NEEDED` decides, and the rest is the feedback; without
 * either, the closing words do: "approved" without "revision" and not denied. In doubt the work is not approved.
 */
export function parseReview(output: string): Review {
  const text = output.trim();
  const lastLine = text.slice(text.lastIndexOf("\n") + 1).trim();
  const marked = MARKERS.get(lastLine);
  if (marked !== undefined) return { approved: marked, feedback: text.slice(0, text.length - lastLine.length).trim() };
  const closing = text.slice(-CLOSING_CHARS);
  return { approved: APPROVES.test(closing) && !REFUSES.test(closing), feedback: text };
}

/** The decision, and what the reviewer said besides. */
export type Review = Readonly<{ approved: boolean; feedback: string }>;

const MARKERS: ReadonlyMap<string, boolean> = new Map([
  ["APPROVED", true],
  ["REVISION_NEEDED", false],
]);
/** How much of the end counts as the closing words. */
const CLOSING_CHARS = 200;
const APPROVES = /\bapproved\b/i;
const REFUSES = /revision|\b(?:not|never|cannot|can't|isn't|won't|neither)\b[^.!?;\n]*\bapproved\b/i;
