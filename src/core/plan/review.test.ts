import { expect, test } from "vitest";
import { parseReview } from "./review.ts";

test.each([
  "This is not approved.",
  "It cannot be approved yet",
  "Not yet ready to be approved",
  "unapproved",
  "I disapproved of it",
])("%j is no approval", (output) => {
  expect(parseReview(output)).toEqual({ approved: false, feedback: output });
});

test("a denial in an earlier sentence does not spoil the approval", () => {
  expect(parseReview("The old one was not good. This one is approved.").approved).toBe(true);
});

test("only the closing words count, so an approval quoted far above does not", () => {
  expect(parseReview(`approved was the wish.\n${"x ".repeat(150)}`).approved).toBe(false);
});

test("the last line decides, with whatever blank lines and line ends surround it", () => {
  expect(parseReview("fine\r\n  APPROVED \r\n\n")).toEqual({ approved: true, feedback: "fine" });
  expect(parseReview("approved? no.\nREVISION_NEEDED\n")).toEqual({ approved: false, feedback: "approved? no." });
});

test("a marker inside a longer last line is no marker, but still heard", () => {
  expect(parseReview("Verdict: REVISION_NEEDED")).toEqual({ approved: false, feedback: "Verdict: REVISION_NEEDED" });
  expect(parseReview("**APPROVED**").approved).toBe(true);
});
