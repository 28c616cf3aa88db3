import { expect, test } from "vitest";
import { parseReview, statedVerdict } from "./review.ts";

test.each([
  ["APPROVED", undefined, true],
  ["Fine.\r\n\r\n  APPROVED \r\n\n", undefined, true],
  ["**APPROVED**\n\nThe tests are thorough.", undefined, true],
  ["I first thought\nREVISION_NEEDED\nbut no.\nAPPROVED", undefined, true],
  ["No tests.\nREVISION_NEEDED", undefined, false],
  ["APPROVED\nREVISION_NEEDED", undefined, false],
  ["", { approved: true }, true],
  ["", { verdict: "correct" }, true],
  ["", { verdict: "Approved" }, true],
  ["APPROVED", { approved: false }, false],
  ["", { verdict: "incorrect" }, false],
  ["", { verdict: "correct", approved: false }, false],
  ["APPROVED", { score: 10 }, true],
])("the review %j with the data %j is an approval: %j", (output, data, approved) => {
  expect(statedVerdict(output, data)?.approved).toBe(approved);
});

test.each([
  ["The work is approved.", undefined],
  ["APPROVED: all tests pass", undefined],
  ["> APPROVED", undefined],
  ["Verdict: approved", undefined],
  ["approved", undefined],
  ['{"approved": true}', undefined],
  ["", { score: 10, approved: null }],
  ["", { review: { approved: true } }],
  ["", ["approved"]],
])("the review %j with the data %j has no verdict, so the work is not approved", (output, data) => {
  expect(statedVerdict(output, data)).toBeUndefined();
  expect(parseReview(output, data)).toEqual({ approved: false, feedback: output });
});

test("the feedback of a review is its field, or the text without the last line with the verdict", () => {
  expect(parseReview("{}", { approved: false, feedback: "no tests" }).feedback).toBe("no tests");
  expect(parseReview('{"verdict":"incorrect"}', { verdict: "incorrect" }).feedback).toBe('{"verdict":"incorrect"}');
  expect(parseReview("no tests\n\nREVISION_NEEDED\n").feedback).toBe("no tests");
  expect(parseReview("REVISION_NEEDED\n\nno tests").feedback).toBe("REVISION_NEEDED\n\nno tests");
});
