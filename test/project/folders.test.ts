import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Folders of test/ that are not rooms of src/: shared code, and suites about the whole program or its documents. */
const shared = ["conformance", "docs", "fuzz", "processes", "project", "simulation", "soak", "support"];

/** The folders below `folder` that contain test files, except those of fixtures. */
function foldersWithTests(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const found = files
    .filter(({ name }) => name.endsWith(".test.ts"))
    .map(({ parentPath }) => relative(folder, parentPath));
  return [...new Set(found.map((path) => path.split(sep).join("/")))].filter((path) => path !== "");
}

const sourceFolders = new Set(
  readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => relative(join(root, "src"), join(parentPath, name)).split(sep).join("/")),
);

const strays = (folders: readonly string[]): string[] =>
  folders.filter((folder) => !shared.includes(folder.split("/")[0]!) && !sourceFolders.has(folder));

test("every folder of suites is named after the room of src/ that it tests", () => {
  expect(strays(foldersWithTests(join(root, "test")))).toEqual([]);
  expect(strays(foldersWithTests(join(root, "test/processes")))).toEqual([]);
});

test("a folder that is not in the table of rooms is reported", () => {
  expect(strays(["runtime/loop", "runtime/lop", "soak/rounds", "helpers"])).toEqual(["runtime/lop", "helpers"]);
});
