import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import { diffLines, endedCallLines } from "./tool-lines.ts";

const look = createLook({ color: false, unicode: true });
const failed = (text: string): string[] =>
  endedCallLines({ tool: "bash", preview: "make", startedAt: 0, state: "error", text, ms: 5 }, { look, columns: 70 });

test("the chat shows the last output of a failed command and how it ended, also when the network is missing", () => {
  expect(failed("one\ntwo\nthree\nfour\n[exit code 6]\n[commands have no network here]")).toEqual([
    "✗ bash make",
    "  two",
    "  three",
    "  four",
    "  exit code 6; commands have no network here",
  ]);
});

test("the chat shows the first line of the result of any other failed tool call", () => {
  expect(failed("There is no such file.\nNear: a.txt")).toEqual(["✗ bash make", "  There is no such file."]);
});

const text = ["Changed a.txt.", "--- a/a.txt", "+++ b/a.txt", "@@ -1,3 +1,3 @@", " one", "-two", "+2"].join("\n");

test("the chat shows the diff of a tool call that changed a file, without the names, and counts the lines that are left out", () => {
  expect(diffLines(text, { look, columns: 70 }).map((line) => line.trim())).toEqual([
    "@@ -1,3 +1,3 @@",
    "one",
    "-two",
    "+2",
  ]);
  expect(diffLines(text, { look, columns: 70, most: 1 }).map((line) => line.trim())).toEqual([
    "@@ -1,3 +1,3 @@",
    "and 3 more lines; Ctrl-O shows all",
  ]);
  expect(diffLines("Nothing changed.", { look, columns: 70 })).toEqual([]);
});

test("the line of a tool call in the chat fills its width and no more", () => {
  const call = { tool: "bash", preview: "x".repeat(80), startedAt: 0, state: "ok", text: "", ms: 5 } as const;
  expect(endedCallLines(call, { look, columns: 40 }).map((line) => line.length)).toEqual([40]);
});
