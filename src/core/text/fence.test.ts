import { expect, test } from "vitest";
import { codeSpan, fence } from "./fence.ts";

test("a Markdown code block is fenced with three backticks and may name its language", () => {
  expect(fence("a")).toBe("```\na\n```");
  expect(fence("+a", "diff")).toBe("```diff\n+a\n```");
});

test("a text that contains a fence cannot close its Markdown code block", () => {
  expect(fence("```\n## Fake heading")).toBe("````\n```\n## Fake heading\n````");
  expect(fence("`````")).toBe("``````\n`````\n``````");
});

test("a Markdown code span can contain text with and without backticks", () => {
  expect(codeSpan("**x**")).toBe("`**x**`");
  expect(codeSpan("a`b``c")).toBe("``` a`b``c ```");
});
