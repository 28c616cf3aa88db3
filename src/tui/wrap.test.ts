import { expect, test } from "vitest";
import { splitLine, wrap } from "./wrap.ts";

test("terminal text is wrapped between words, and the indent of later lines is kept", () => {
  expect(wrap([{ text: "one two three four" }], 9, { first: "- ", rest: "  " })).toEqual([
    "- one two",
    "  three",
    "  four",
  ]);
});

test("terminal text: a word that changes its style in the middle stays together when it is wrapped", () => {
  const bold = (text: string): string => `<${text}>`;
  expect(wrap([{ text: "see foo" }, { text: "bar", style: bold }, { text: ", then" }], 8)).toEqual([
    "see",
    "foo<bar>,",
    "then",
  ]);
  expect(wrap([{ text: "a foo" }, { text: "bar", style: bold }], 6)).toEqual(["a", "foo<bar>"]);
});

test("terminal text: a word wider than the line is split between characters; wide characters and clusters stay whole", () => {
  expect(wrap([{ text: "abcdefghij" }], 4)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrap([{ text: "数据库和前端" }], 5)).toEqual(["数据", "库和", "前端"]);
  expect(wrap([{ text: "👩‍👩‍👧‍👧👩‍👩‍👧‍👧👩‍👩‍👧‍👧" }], 4)).toEqual(["👩‍👩‍👧‍👧👩‍👩‍👧‍👧", "👩‍👩‍👧‍👧"]);
});

test("terminal text: line breaks are kept, and blanks at the end of a line are dropped", () => {
  expect(wrap([{ text: "a\nb   c" }], 10)).toEqual(["a", "b c"]);
  expect(wrap([{ text: "abcd efgh" }], 4)).toEqual(["abcd", "efgh"]);
});

test("terminal text: a line of code keeps its blanks when it is split", () => {
  expect(splitLine([{ text: "  if (x) {" }], 6, { first: "| " })).toEqual(["|   if", "|  (x)", "|  {"]);
});
