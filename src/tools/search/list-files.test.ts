import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { listFiles } from "./list-files.ts";

const files = {
  ".gitignore": "dist\n",
  "src/core/a.ts": "",
  "src/core/deep/b.ts": "",
  "src/index.ts": "",
  "dist/x.js": "",
  "README.md": "",
};

test("list_files shows a folder as a tree of two levels", async () => {
  const cwd = tempFolder(files);
  symlinkSync("/etc", join(cwd, "etc"));
  expect(await callTool(listFiles, cwd, {})).toEqual(
    [".gitignore", "README.md", "etc@", "src/", "  core/", "  index.ts"].join("\n"),
  );
});

test("depth and path of list_files can be chosen", async () => {
  const cwd = tempFolder(files);
  expect(await callTool(listFiles, cwd, { path: "src", depth: 9 })).toEqual(
    ["core/", "  a.ts", "  deep/", "    b.ts", "index.ts"].join("\n"),
  );
});

test("list_files cuts a tree after 1,000 entries, deep ones first", async () => {
  const many = Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`a/f${n}`, ""]));
  const text = await callTool(listFiles, tempFolder({ ...many, "z.txt": "" }), {});
  expect(text.split("\n")).toHaveLength(1_001);
  expect(text).toContain("\nz.txt\n[cut at 1000 entries: call list_files with a path inside, or with a smaller depth]");
});

test("list_files gives different error messages for an empty folder, a file and a path outside of the workspace", async () => {
  const cwd = tempFolder(files);
  expect(await callTool(listFiles, tempFolder(), {})).toEqual("[the folder is empty, or git ignores all of it]");
  await expect(callTool(listFiles, cwd, { path: "README.md" })).rejects.toThrow('"README.md" is a file: use read_file');
  await expect(callTool(listFiles, cwd, { path: "/etc" })).rejects.toThrow("outside of the working folder");
  await expect(callTool(listFiles, cwd, { path: "scr" })).rejects.toThrow("Similar names in the working folder: src");
});

test("list_files shows a name with a line break on one line", async () => {
  expect(await callTool(listFiles, tempFolder({ "a\nb": "" }), {})).toEqual("a␊b");
});
