import { expect, test } from "vitest";
import { parseReview } from "./review.ts";

test.each([
  "This is not approved.",
  "It cannot be approved yet",
  "Not yet ready to be approved",
  "unapproved",
  "I disapproved of it",
  "I would say APPROVED if the tests passed",
  'Say "APPROVED" when it is fixed.',
  "APPROVED would be wrong here",
  "It should be approved by somebody else",
  "verdict: correct\nbut REVISION_NEEDED",
  '{"approved": 0}',
  '{"comment": "approved before"}',
])("%j is not an approval", (output) => {
  expect(parseReview(output)).toEqual({ approved: false, feedback: output });
});

test("a rejection in an earlier sentence does not override the final approval", () => {
  expect(parseReview("The old one was not good. This one is approved.").approved).toBe(true);
});

test("only the closing words count, so an approval quoted far above does not", () => {
  expect(parseReview(`approved was the wish.\n${"x ".repeat(150)}`).approved).toBe(false);
});

test("the last line decides, with whatever blank lines and line ends surround it", () => {
  expect(parseReview("fine\r\n  APPROVED \r\n\n")).toEqual({ approved: true, feedback: "fine" });
  expect(parseReview("approved? no.\nREVISION_NEEDED\n")).toEqual({ approved: false, feedback: "approved? no." });
});

test("a verdict inside a longer last line is still recognised", () => {
  expect(parseReview("Verdict: REVISION_NEEDED")).toEqual({ approved: false, feedback: "Verdict: REVISION_NEEDED" });
  expect(parseReview("**APPROVED**").approved).toBe(true);
});

test.each([
  ["APPROVED", undefined, true],
  ["Fine.\n\n**Approved.**", undefined, true],
  ["LGTM", undefined, true],
  ["The patch is correct.", undefined, true],
  ["No tests.\nThe patch is incorrect.", undefined, false],
  ["I approve.", undefined, true],
  ['{"approved": 1}', undefined, true],
  ["Two findings.\nVerdict: incorrect", undefined, false],
  ["**Verdict:** correct\n\nThe tests cover it.", undefined, true],
  ["Changes requested", undefined, false],
  ['{ "verdict": "correct", "explanation": "works", "findings": [] }', undefined, true],
  ['Here it is:\n```json\n{ "approved": false, "feedback": "no tests" }\n```', undefined, false],
  ["", { verdict: "correct" }, true],
  ["", { verdict: "INCORRECT" }, false],
  ["", { approved: true, feedback: "fine" }, true],
  ["", { approved: "no" }, false],
  ["", { overall_correctness: "patch is correct" }, true],
  ["", { review: { decision: "request changes" } }, false],
  ["", { summary: "Good work.\nAPPROVED", score: 3 }, true],
  ["APPROVED", { approved: false }, false],
  ["", { score: 10 }, false],
  ["The status is ok", undefined, false],
  ["Is it correct?", undefined, false],
  ["That is not correct", undefined, false],
])("%j with %j is read as %j", (output, data, approved) => {
  expect(parseReview(output, data).approved).toBe(approved);
});

test("the feedback of a structured review is its text field, or the whole value", () => {
  expect(parseReview("{}", { approved: false, feedback: "no tests" }).feedback).toBe("no tests");
  const output = '{"verdict":"incorrect","explanation":"no tests"}';
  expect(parseReview(output, JSON.parse(output)).feedback).toBe(output);
});
