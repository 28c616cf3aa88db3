import { expect, test } from "vitest";
import { codeSpan, fence } from "./fence.ts";

test("a block is fenced with three backticks and may name its language", () => {
  expect(fence("a")).toBe("```\na\n```");
  expect(fence("+a", "diff")).toBe("```diff\n+a\n```");
});

test("a text with its own fence cannot leave the block", () => {
  expect(fence("```\n## Fake heading")).toBe("````\n```\n## Fake heading\n````");
  expect(fence("`````")).toBe("``````\n`````\n``````");
});

test("a code span can contain text with and without backticks", () => {
  expect(codeSpan("**x**")).toBe("`**x**`");
  expect(codeSpan("a`b``c")).toBe("``` a`b``c ```");
});
