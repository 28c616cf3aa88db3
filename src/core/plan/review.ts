import { isRecord } from "../text/json.ts";

/** What happens to a result that the reviewer has not approved after the last round. */
export const exhaustedKinds = ["accept", "fail"] as const;

/** The reviewer's decision, and the rest of the reviewer's answer. */
export type Review = Readonly<{ approved: boolean; feedback: string }>;

/** The verdict of a reviewer's answer. Without a verdict the work is not approved. */
export function parseReview(output: string, data?: unknown): Review {
  return statedVerdict(output, data) ?? { approved: false, feedback: output.trim() };
}

/**
 * The verdict in a reviewer's answer: the field `approved` or `verdict` of its data, or `APPROVED` or `REVISION_NEEDED`
 * on a line of its own, of which the last one counts. `undefined`: the answer has none.
 */
export function statedVerdict(output: string, data?: unknown): Review | undefined {
  const text = output.trim();
  const given = verdictIn(data);
  if (given !== undefined) return { approved: given, feedback: feedbackIn(data) ?? text };
  const lines = text.split("\n");
  const at = lines.findLastIndex((line) => MARKER.test(line));
  if (at < 0) return undefined;
  const feedback = at === lines.length - 1 ? lines.slice(0, at).join("\n").trim() : text;
  return { approved: lines[at]!.includes("APPROVED"), feedback };
}

/** A reviewer's answer: its text, and its data if it has any. */
export type ReviewAnswer = Readonly<{ output: string; data?: unknown }>;

/** The answer of a reviewer who gave the verdict when asked again: the first answer has the findings. */
export function withVerdict<A extends ReviewAnswer>(first: ReviewAnswer | undefined, second: A): A {
  return first === undefined ? second : { ...first, ...second, output: `${first.output}\n\n${second.output}`.trim() };
}

/** Matches a line with nothing but a marker, which Markdown may emphasise. */
const MARKER = /^[\s*_`]*(?:APPROVED|REVISION_NEEDED)[\s*_`]*$/;

/** The verdict in the fields of a review. If they contradict each other, the work is not approved. */
function verdictIn(data: unknown): boolean | undefined {
  if (!isRecord(data)) return undefined;
  const given = [data["approved"], data["verdict"]].filter((value) => /^(?:boolean|string)$/.test(typeof value));
  return given.length === 0 ? undefined : given.every((value) => APPROVING.has(String(value).trim().toLowerCase()));
}

/** The values of a field that approve; any other word or `false` does not. */
const APPROVING: ReadonlySet<string> = new Set(["true", "yes", "approved", "approve", "accepted", "correct", "pass"]);

function feedbackIn(data: unknown): string | undefined {
  const said = isRecord(data) ? data["feedback"] : undefined;
  return typeof said === "string" && said !== "" ? said : undefined;
}
