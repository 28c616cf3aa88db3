import { isRecord } from "../text/json.ts";

/** What happens to work that no review round approved. */
export const exhaustedKinds = ["accept", "fail"] as const;

/** The decision, and the rest of the reviewer's answer. */
export type Review = Readonly<{ approved: boolean; feedback: string }>;

/**
 * Reads a review in every spelling that reviewers use: fields (`approved: true`, `verdict: correct`), as data or as JSON
 * text; the markers `APPROVED` and `REVISION_NEEDED` or another verdict word on the last line; a line `Verdict: ...`.
 * Without any of these the closing words decide: "approved" without "revision" and not denied. In doubt the work is not
 * approved.
 */
export function parseReview(output: string, data?: unknown): Review {
  const text = output.trim();
  const given = verdictIn(data);
  if (given !== undefined) return { approved: given, feedback: feedbackIn(data) ?? text };
  const lastLine = lastLineOf(text);
  const marked = MARKERS.get(lastLine);
  if (marked !== undefined) return { approved: marked, feedback: text.slice(0, text.length - lastLine.length).trim() };
  const stated = statedVerdict(text);
  if (stated) return stated;
  if (isRecord(jsonIn(text))) return { approved: false, feedback: text }; // fields that say nothing about it
  const closing = text.slice(-CLOSING_CHARS);
  return { approved: APPROVES.test(closing) && !REFUSES.test(closing), feedback: text };
}

/** The explicit verdict of an answer; `undefined` when there is none. */
export function statedVerdict(output: string): Review | undefined {
  const text = output.trim();
  const fields = jsonIn(text);
  const inFields = verdictIn(fields);
  if (inFields !== undefined) return { approved: inFields, feedback: feedbackIn(fields) ?? text };
  const bare = wordOf(lastLineOf(text));
  const last = bare === "approved" && /\brevision/i.test(text.slice(-CLOSING_CHARS)) ? undefined : BARE.get(bare);
  const labelled = [...text.matchAll(LABELLED)].map(([, word = ""]) => VERDICTS.get(wordOf(word)));
  const found = last ?? labelled.findLast((each) => each !== undefined);
  // A label and a marker that contradict each other are a doubt.
  const approved = last === undefined && found && /\bREVISION_NEEDED\b/.test(text) ? false : found;
  return approved === undefined ? undefined : { approved, feedback: text };
}

const MARKERS: ReadonlyMap<string, boolean> = new Map([
  ["APPROVED", true],
  ["REVISION_NEEDED", false],
]);
const words = (approved: boolean, list: string): [string, boolean][] => list.split(" ").map((word) => [word, approved]);

/** Verdict words that need no label when they are alone on the last line. */
const BARE: ReadonlyMap<string, boolean> = new Map([
  ...words(true, "approved approve i_approve lgtm correct the_patch_is_correct accepted"),
  ...words(
    false,
    "revision_needed revision_required needs_revision revise not_approved changes_requested request_changes incorrect the_patch_is_incorrect rejected reject not_accepted",
  ),
]);
/** Verdict words where a field or a label says that they are the verdict. */
const VERDICTS: ReadonlyMap<string, boolean> = new Map([
  ...BARE,
  ...words(true, "accept pass passed ok okay good yes true patch_is_correct"),
  ...words(false, "fail failed no false bad needs_work needs_changes needs_work patch_is_incorrect"),
]);

/** Fields that hold a verdict, in the order in which they count. */
const FIELDS = ["approved", "verdict", "decision", "overall_correctness", "review", "status", "result"] as const;
const FEEDBACK = ["feedback", "comments", "comment"] as const;

function verdictIn(value: unknown, depth = 0): boolean | undefined {
  if (!isRecord(value) || depth > 2) return undefined;
  for (const field of FIELDS) {
    const given = value[field];
    const verdict =
      typeof given === "boolean"
        ? given
        : given === 0 || given === 1
          ? given === 1
          : typeof given === "string"
            ? VERDICTS.get(wordOf(given))
            : verdictIn(given, depth + 1);
    if (verdict !== undefined) return verdict;
  }
  const marks = Object.values(value).map((each) =>
    typeof each === "string" ? MARKERS.get(lastLineOf(each.trim())) : undefined,
  );
  return marks.find((mark) => mark !== undefined);
}

function feedbackIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  return FEEDBACK.map((field) => value[field]).find((text): text is string => typeof text === "string" && text !== "");
}

/** A word without Markdown, punctuation and case: `**Revision needed.**` is `revision_needed`. */
function wordOf(text: string): string {
  return text
    .replace(/^[\s*_`"'#>-]+|[\s*_`"'.!]+$/g, "")
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}

const lastLineOf = (text: string): string => text.slice(text.lastIndexOf("\n") + 1).trim();

/** `Verdict: correct`, `**Decision:** approved` */
const LABELLED =
  /^[\s*_#>-]*(?:(?:final|overall)\s+)?(?:verdict|decision|assessment|approved)\s*[*_]*\s*[:=][\s*_]*([^\n]{1,40})$/gim;

function jsonIn(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n```/.exec(text)?.[1];
  for (const candidate of [text, fenced]) {
    if (candidate === undefined || !candidate.trimStart().startsWith("{")) continue;
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Number of characters at the end that count as closing words. */
const CLOSING_CHARS = 200;
const APPROVES = /\bapproved\b/i;
/** Denied, or said under a condition: "approved if the tests pass", "would be approved". */
const REFUSES =
  /revision|\b(?:not|never|cannot|can't|isn't|won't|neither|would|could|should|might|unless)\b[^.!?;\n]*\bapproved\b|\bapproved\b[^.!?;\n]*\b(?:if|unless|until|once|when|would|could|provided)\b/i;
