import { expect, test } from "vitest";
import { wrapLine } from "./wrap-line.ts";

test("a line is wrapped between words at a width, indented as it was, and not within a command in backticks", () => {
  const rows = wrapLine("  Fix: run `subcrew config set model x` and then start it again", 34);
  expect(rows).toEqual(["  Fix: run", "  `subcrew config set model x` and", "  then start it again"]);
  expect(wrapLine("subcrew: one two three", 16)).toEqual(["subcrew: one two", "  three"]);
  expect(wrapLine("a  table   row", 80)).toEqual(["a  table   row"]);
  expect(wrapLine("averylongwordthatdoesnotfit x", 10)).toEqual(["averylongwordthatdoesnotfit", "  x"]);
});
