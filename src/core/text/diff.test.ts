import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { unifiedDiff } from "./diff.ts";

test("a diff shows a change with three lines of context", () => {
  const before = `${"abcdefghij".split("").join("\n")}\n`;
  expect(unifiedDiff(before, before.replace("f", "F\nG"), "x.txt")).toBe(
    ["--- x.txt", "+++ x.txt", "@@ -3,7 +3,8 @@", " c", " d", " e", "-f", "+F", "+G", " g", " h", " i"].join("\n"),
  );
  expect(unifiedDiff(before, before, "x")).toBe("");
});

test("a diff shows new and emptied files, and a missing last line end, as git does", () => {
  expect(unifiedDiff("", "a\n", "x")).toBe("--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+a");
  expect(unifiedDiff("a\n", "", "x")).toBe("--- x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a");
  expect(unifiedDiff("a", "a\n", "x")).toBe("--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a");
});

test("no minimal diff is computed for two files without a common line", () => {
  const text = (word: string): string => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}`).join("\n");
  const began = performance.now();
  expect(unifiedDiff(text("a"), text("b"), "x").split("\n").length).toBeGreaterThan(40_000);
  expect(performance.now() - began).toBeLessThan(30_000); // a minimal diff would take minutes, and more memory than available
});

test("patch(1) with the diff of two texts turns the old text into the new one", (context) => {
  if (spawnSync("patch", ["--version"]).error) return context.skip("the program patch is not installed");
  const folder = tempFolder();
  const text = fc
    .tuple(fc.array(fc.constantFrom("a", "b", "c", "", "dd"), { maxLength: 30 }), fc.boolean())
    .map(([lines, end]) => lines.join("\n") + (end ? "\n" : ""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      if (before === after || before === "" || after === "") return;
      writeFileSync(join(folder, "x"), before);
      const { status, stdout } = spawnSync("patch", ["-s", "-u", "x"], {
        cwd: folder,
        input: `${unifiedDiff(before, after, "x")}\n`,
        encoding: "utf8",
      });
      expect([status, stdout, readFileSync(join(folder, "x"), "utf8")]).toEqual([0, "", after]);
    }),
    { numRuns: 40 },
  );
});
