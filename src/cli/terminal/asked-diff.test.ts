import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { askedDiff } from "./asked-diff.ts";

const text = Array.from({ length: 20 }, (_, n) => `line ${n + 1}\n`).join("");
const call = (name: string, input: object) => ({ id: "1", name, input });

test("the question about an edit shows a diff with the lines around the change", () => {
  const cwd = tempFolder({ "a.txt": text });
  const diff = askedDiff(call("edit_file", { path: "a.txt", oldText: "line 10\n", newText: "line ten\n" }), cwd)!;
  expect(diff.split("\n").slice(2)).toEqual([
    "@@ -7,7 +7,7 @@",
    " line 7",
    " line 8",
    " line 9",
    "-line 10",
    "+line ten",
    " line 11",
    " line 12",
    " line 13",
  ]);
});

test("the question about overwriting a file shows a diff; the question about a new file shows none", () => {
  const cwd = tempFolder({ "a.txt": "one\ntwo\n" });
  expect(askedDiff(call("write_file", { path: "a.txt", content: "one\n2\n" }), cwd)).toContain("-two\n+2");
  expect(askedDiff(call("write_file", { path: "b.txt", content: "one\n" }), cwd)).toBeUndefined();
});

test("the question about an edit shows the texts of the call if the old text is not in the file or the folder is unknown", () => {
  const cwd = tempFolder({ "a.txt": text });
  const edit = call("edit_file", { path: "a.txt", oldText: "nothing", newText: "something" });
  for (const folder of [cwd, ""]) expect(askedDiff(edit, folder)).toContain("-nothing\n+something");
});

test("a call with fields that a diff cannot show is shown unchanged", () => {
  const cwd = tempFolder({ "a.txt": "one\n" });
  expect(askedDiff(call("upload", { path: "a.txt", content: "two\n", to: "elsewhere" }), cwd)).toBeUndefined();
  expect(askedDiff(call("patch", { path: "a.txt", oldText: "one", newText: "2", after: "run" }), cwd)).toBeUndefined();
});
