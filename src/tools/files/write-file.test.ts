import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { deleteFile } from "./delete-file.ts";
import { moveFile } from "./move-file.ts";
import { writeFile } from "./write-file.ts";

const failure = (work: Promise<string>): Promise<string> =>
  work.then(
    (text) => `worked: ${text}`,
    (error: unknown) => (error as Error).message,
  );

test("write_file creates a new file with its folders", async () => {
  const cwd = tempFolder();
  expect(await callTool(writeFile, cwd, { path: "src/deep/a.txt", content: "one\ntwo\n" })).toBe(
    'Created "src/deep/a.txt" with 2 lines.',
  );
  expect(readFileSync(join(cwd, "src/deep/a.txt"), "utf8")).toBe("one\ntwo\n");
  expect(await callTool(writeFile, cwd, { path: "empty", content: "" })).toBe('Created "empty" with 0 lines.');
});

test("write_file replaces an existing file, shows the diff, and keeps the permissions", async () => {
  const cwd = tempFolder({ "run.sh": "a\nb\n" });
  chmodSync(join(cwd, "run.sh"), 0o755);
  expect(await callTool(writeFile, cwd, { path: "run.sh", content: "a\nc\n" })).toBe(
    'Wrote "run.sh": 2 lines.\n--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n a\n-b\n+c',
  );
  expect(await callTool(writeFile, cwd, { path: "run.sh", content: "a\nc\n" })).toBe(
    '"run.sh" already had this content.',
  );
  expect(statSync(join(cwd, "run.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(cwd)).toEqual(["run.sh"]);
});

test("a write_file that fails leaves the old content and no temporary file", async () => {
  const cwd = tempFolder({ "a.txt": "old", "f/x": "x" });
  expect(await failure(callTool(writeFile, cwd, { path: "f", content: "x" }))).toBe('"f" is a folder');
  expect(await failure(callTool(writeFile, cwd, { path: "a.txt/b", content: "x" }))).toContain(
    "a part of the path is a file, not a folder",
  );
  expect(await failure(callTool(writeFile, cwd, { path: ".", content: "x" }))).toBe('"." is the working folder itself');
  expect(await failure(callTool(writeFile, cwd, { path: ".git/hooks/x", content: "x" }))).toContain(
    "is executed or loaded as configuration later",
  );
  expect(readdirSync(cwd).toSorted()).toEqual(["a.txt", "f"]);
});

test("delete_file deletes files and folders; a folder that is not empty only with recursive", async () => {
  const cwd = tempFolder({ "a.txt": "a", "d/x": "x", "d/e/y": "y" });
  mkdirSync(join(cwd, "empty"));
  expect(await callTool(deleteFile, cwd, { path: "a.txt" })).toBe('Deleted "a.txt".');
  expect(await callTool(deleteFile, cwd, { path: "empty" })).toBe('Deleted the empty folder "empty".');
  expect(await failure(callTool(deleteFile, cwd, { path: "d" }))).toBe('"d" is a folder that is not empty');
  expect(await callTool(deleteFile, cwd, { path: "d", recursive: true })).toBe(
    'Deleted the folder "d" with 3 entries in it.',
  );
  expect(await failure(callTool(deleteFile, cwd, { path: "nothing" }))).toBe('"nothing" does not exist');
  expect(await failure(callTool(deleteFile, cwd, { path: ".", recursive: true }))).toBe(
    '"." is the working folder itself',
  );
  expect(readdirSync(cwd)).toEqual([]);
});

test("move_file moves files, and keeps an existing target unless overwrite is set", async () => {
  const cwd = tempFolder({ "a.txt": "a", "b.txt": "b", "d/x": "x" });
  expect(await callTool(moveFile, cwd, { from: "a.txt", to: "new/place/a.txt" })).toBe(
    'Moved "a.txt" to "new/place/a.txt".',
  );
  expect(await failure(callTool(moveFile, cwd, { from: "b.txt", to: "new/place/a.txt" }))).toContain(
    "set overwrite to replace it",
  );
  expect(await callTool(moveFile, cwd, { from: "b.txt", to: "new/place/a.txt", overwrite: true })).toContain("Moved");
  expect(readFileSync(join(cwd, "new/place/a.txt"), "utf8")).toBe("b");
  expect(await callTool(moveFile, cwd, { from: "d", to: "e" })).toBe('Moved "d" to "e".');
  expect(await failure(callTool(moveFile, cwd, { from: "e", to: "new" }))).toContain(
    "is a folder: give the whole new path",
  );
  expect(await failure(callTool(moveFile, cwd, { from: "nothing", to: "x" }))).toBe('"nothing" does not exist');
  expect(existsSync(join(cwd, "e/x"))).toBe(true);
});

test.each([
  ["HEAD last", ["x/objects/a", "x/refs/a", "x/config"], "x/HEAD"],
  ["in another case", ["x/objects/a", "x/refs/a"], "x/Head"],
  ["a folder last", ["x/HEAD", "x/refs/a"], "x/objects/deep/a"],
  ["a worktree", ["x/commondir"], "x/HEAD"],
])("no file tool completes a folder that git treats as a repository: %s", async (_, before, last) => {
  const cwd = tempFolder(Object.fromEntries(before.map((path) => [path, "x"])));
  expect(await failure(callTool(writeFile, cwd, { path: last, content: "x" }))).toContain("treats as a repository");
  expect(existsSync(join(cwd, last.split("/").slice(0, 2).join("/")))).toBe(false);
  expect(await callTool(writeFile, cwd, { path: "other", content: "x" })).toContain("Created");
  expect(await failure(callTool(moveFile, cwd, { from: "other", to: last }))).toContain("treats as a repository");
});

test("the configuration and hooks of a repository under another name are not changed", async () => {
  const cwd = tempFolder({ "x/HEAD": "x", "x/objects/a": "x", "x/refs/a": "x", "x/config": "old", "y/config": "old" });
  for (const path of ["x/config", "x/hooks/post-commit"])
    expect(await failure(callTool(writeFile, cwd, { path, content: "evil" }))).toContain("treats as a repository");
  expect(await failure(callTool(moveFile, cwd, { from: "x/config", to: "a" }))).toContain("treats as a repository");
  expect(readFileSync(join(cwd, "x/config"), "utf8")).toBe("old");
  expect(await callTool(writeFile, cwd, { path: "y/config", content: "new" })).toContain("Wrote");
});

test("move_file does not move a folder into itself", async () => {
  const cwd = tempFolder({ "d/a": "x" });
  expect(await failure(callTool(moveFile, cwd, { from: "d", to: "d/x" }))).toBe('"d" cannot be moved into itself');
  expect(await callTool(moveFile, cwd, { from: "d", to: "d2" })).toBe('Moved "d" to "d2".');
});
