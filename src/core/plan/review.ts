import { isRecord, parseJson } from "../text/json.ts";
import { asksForRevision, isApproval, verdictOfLine, verdictOfLoneLine, verdictOfValue } from "./verdict.ts";

/** What happens to a result that the reviewer has not approved after the last round. */
export const exhaustedKinds = ["accept", "fail"] as const;

/** The reviewer's decision, and the rest of the reviewer's answer. */
export type Review = Readonly<{ approved: boolean; feedback: string }>;

/**
 * Reads the verdict of a reviewer's answer in every spelling that reviewers use: fields (`approved: true`, `verdict:
 * correct`), as data or as JSON text; the markers `APPROVED` and `REVISION_NEEDED` or another verdict word on a line of
 * its own; a line, heading, table row, tag or checkbox with the verdict. Without any of these the closing words decide.
 * In doubt the work is not approved.
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
  if (jsonIn(text).length > 0) return { approved: false, feedback: text }; // the answer has fields, and none of them is a verdict
  return { approved: isApproval(text.slice(-CLOSING_CHARS)), feedback: text };
}

/** The explicit verdict in a reviewer's answer; `undefined` when there is none. */
export function statedVerdict(output: string): Review | undefined {
  const text = output.trim();
  const fields = jsonIn(text).findLast((each) => verdictIn(each) !== undefined);
  const inFields = verdictIn(fields);
  if (inFields !== undefined) return { approved: inFields, feedback: feedbackIn(fields) ?? text };
  const approved = lastVerdict(text) ?? labelledVerdict(text) ?? loneVerdict(text);
  return approved === undefined ? undefined : { approved, feedback: text };
}

const MARKERS: ReadonlyMap<string, boolean> = new Map([
  ["APPROVED", true],
  ["REVISION_NEEDED", false],
]);

/** The verdict on the last line of a review. "approved" does not count if the text above it asks for a revision. */
function lastVerdict(text: string): boolean | undefined {
  const verdict = verdictOfLine(lastLineOf(text));
  return verdict === true && asksForRevision(text.slice(-CLOSING_CHARS)) ? undefined : verdict;
}

/**
 * The last label with a verdict, such as `Verdict: approved`. If the review also has a marker (`APPROVED`) that
 * contradicts it, the work is not approved.
 */
function labelledVerdict(text: string): boolean | undefined {
  const found = labels(text).findLast((each) => each !== undefined);
  return found === true && /\bREVISION_NEEDED\b/.test(text) ? false : found;
}

function labels(text: string): (boolean | undefined)[] {
  const read = (pattern: RegExp, verdict: (value: string) => boolean | undefined): (boolean | undefined)[] =>
    [...text.matchAll(pattern)].map(([, value = ""]) => verdict(value));
  return [
    ...read(WEAKLY_LABELLED, verdictOfLine),
    ...read(TAGGED, verdictOfValue),
    ...read(HEADED, verdictOfLine),
    ...[...text.matchAll(CHECKBOX)].map(([, mark = "", label = ""]) => {
      const verdict = verdictOfLine(label);
      return mark.trim() === "" ? (verdict === true ? false : undefined) : verdict;
    }),
    ...read(LABELLED, verdictOfValue),
  ];
}

/** The verdict that is alone on a line; when several such lines contradict each other, the work is not approved. */
function loneVerdict(text: string): boolean | undefined {
  const found = text.split("\n").map((line) => (/^\s*>/.test(line) ? undefined : verdictOfLoneLine(line)));
  return found.includes(false) ? false : found.find((each) => each !== undefined);
}

/**
 * Matches text that may precede a label such as `Verdict:`: list marks, headings, tables, quotes of keys, and words
 * such as "my final".
 */
const BEFORE = String.raw`^[ \t*_#|{("'\x60-]{0,12}(?:\d+[.)]\s+)?[*_]{0,4}(?:(?:my|the|final|overall|review|reviewer's)\s+){0,4}`;
const AFTER = String.raw`["'\x60*_]*\s*(?:is\s*:|[:：?]|=>?|\||[–—]|\s-\s)[\s*_"'\x60]*([^\n|]{1,80})`;
/**
 * Matches a label with a verdict: `Verdict: correct`, `**Decision:** approved`, `| Verdict | approved |`, `'approved'
 * => true`.
 */
const LABELLED = new RegExp(
  `${BEFORE}(?:verdict|decision|assessment|recommendation|(?:is[_ ]?)?approved?|approval|genehmigt|freigegeben|aprobad[oa]|approuvée?|aprovad[oa]|approvat[oa]|goedgekeurd|одобрено|批准|承認|승인)${AFTER}`,
  "gimu",
);
/** Labels that are not always about a verdict, such as `Status:`. They count only when a verdict word follows. */
const WEAKLY_LABELLED = new RegExp(`${BEFORE}(?:result|status|outcome|conclusion|review)${AFTER}`, "gimu");
const TAGGED = /<(?:verdict|decision|approved)>([^<]{1,80})<\//gi;
/** Matches a heading such as `## Verdict` with the verdict on the line below it. */
const HEADED =
  /^[ \t]*(?:#+[ \t]*|\*\*)(?:(?:final|overall|my|review)\s+)*(?:verdict|decision|assessment|recommendation)[ \t:*]{0,8}\n[ \t\n]{0,8}([^\n]{1,80})/gim;
const CHECKBOX = /^[ \t]*(?:[-*][ \t]*)?\[([ x✓✔])\]\s*([^\n]{1,60})$/gim;

/** Names of fields in a review that hold a verdict, in lower case and without separators. Their verdicts must agree. */
const FIELDS: ReadonlySet<string> = new Set(
  "approved approve isapproved approval accepted verdict decision recommendation overallcorrectness reviewdecision".split(
    " ",
  ),
);
/** Names of fields in a review that count only when none of `FIELDS` is present. */
const WEAK_FIELDS: ReadonlySet<string> = new Set(["review", "status", "result", "outcome", "value"]);
const FEEDBACK = ["feedback", "comments", "comment"] as const;

function verdictIn(value: unknown, depth = 0): boolean | undefined {
  if (depth > 2) return undefined;
  if (Array.isArray(value)) return agreed(value.map((each) => verdictIn(each, depth + 1)));
  if (!isRecord(value)) return undefined;
  const among = (names: ReadonlySet<string>): boolean | undefined =>
    agreed(
      Object.entries(value)
        .filter(([name]) => names.has(name.toLowerCase().replace(/[_\s-]/g, "")))
        .map(([, given]) => verdictOfValue(given) ?? verdictIn(given, depth + 1)),
    );
  return (
    among(FIELDS) ??
    among(WEAK_FIELDS) ??
    agreed(
      Object.values(value).map((each) => (typeof each === "string" ? MARKERS.get(lastLineOf(each.trim())) : undefined)),
    )
  );
}

/** The combined verdict from several places of a review; if one of them rejects, the work is not approved. */
function agreed(verdicts: readonly (boolean | undefined)[]): boolean | undefined {
  return verdicts.includes(false) ? false : verdicts.find((each) => each !== undefined);
}

function feedbackIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  return FEEDBACK.map((field) => value[field]).find((text): text is string => typeof text === "string" && text !== "");
}

const lastLineOf = (text: string): string => text.slice(text.lastIndexOf("\n") + 1).trim();

/** The JSON values in a text: the whole text, its code blocks, or the object at the end of a line of words. */
function jsonIn(text: string): unknown[] {
  const fenced = [...text.matchAll(/^(?:```|~~~)[^\n]*\n([\s\S]*?)\n\s*(?:```|~~~)/gm)].map(([, block = ""]) => block);
  const found = [text, ...fenced].flatMap(parsed);
  const start = text.search(/\{\s*"/);
  return found.length > 0 || start === -1 ? found : parsed(text.slice(start, text.lastIndexOf("}") + 1));
}

function parsed(candidate: string): unknown[] {
  if (!/^\s*[[{]/.test(candidate)) return [];
  try {
    return [parseJson(candidate)];
  } catch {
    return [];
  }
}

/** Number of characters at the end of a review that count as its closing words. */
const CLOSING_CHARS = 200;
