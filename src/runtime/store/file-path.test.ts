import { expect, test } from "vitest";
import { filePathOf } from "./file-path.ts";

test.each(["build.2/review", "lead/scout-2", "a@b:c_d"])(
  "the task path %s is used unchanged as a file path",
  (path) => {
    expect(filePathOf(path)).toBe(path);
  },
);

test.each(["数据库", "前端 页", "a/../b", "..", "𠮷".repeat(80), "", "con\u0000", "प्रतिवेदन.2/work"])(
  "the task path %j becomes a file path that is valid on every file system",
  (path) => {
    for (const segment of filePathOf(path).split("/")) expect(segment).toMatch(/^[\w.~-]{1,100}$/);
    expect(filePathOf(path).split("/")).not.toContain("..");
  },
);

test("different task paths never share a file", () => {
  expect(new Set(["数据库", "前端页", "___", "a b", "a_b"].map(filePathOf)).size).toBe(5);
});
