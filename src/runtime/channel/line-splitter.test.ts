import { expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

function split(chunks: readonly string[], longest = 100): { lines: string[]; dropped: number } {
  const lines: string[] = [];
  let dropped = 0;
  const splitter = createLineSplitter((line) => lines.push(line), { longest, tooLong: () => void (dropped += 1) });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, dropped };
}

test("the line splitter gives the same lines however the text is cut into chunks", () => {
  const expected = { lines: ["one", "", "two three", "end"], dropped: 0 };
  expect(split(["one\n\ntwo three\nend"])).toEqual(expected);
  expect(split(Array.from("one\n\ntwo three\nend"))).toEqual(expected);
  expect(split(["one", "\n\ntwo", " three\n", "", "end"])).toEqual(expected);
});

test("the line splitter drops a line that is too long, and reads the next line", () => {
  expect(split(["x".repeat(60), "x".repeat(60), "x".repeat(60), "xx\nnext\n"])).toEqual({
    lines: ["next", ""],
    dropped: 1,
  });
});

test("the line splitter takes time in proportion to the length of a line", () => {
  const chunk = "x".repeat(8_000);
  let length = 0;
  const splitter = createLineSplitter((line) => (length = line.length), { longest: 1e9 });
  const began = performance.now();
  for (let n = 0; n < 8_000; n += 1) splitter.push(chunk);
  splitter.end();
  expect(length).toBe(64_000_000);
  expect(performance.now() - began).toBeLessThan(5_000); // joining all chunks again with every new chunk takes minutes
});
