import { expect, test } from "vitest";
import { withFullStop } from "./sentence.ts";

test.each([
  ["socket hang up", "socket hang up."],
  ["Too busy. ", "Too busy."],
  ["Who is it?", "Who is it?"],
  ['He said "stop."', 'He said "stop."'],
  ["bad gateway\n", "bad gateway."],
  ["", ""],
])("%j ends with one full stop", (text, expected) => {
  expect(withFullStop(text)).toBe(expected);
});
