import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { rootOf } from "../../runtime/files/open-contained.ts";
import { folderAt, walk } from "./walk.ts";

const signal = new AbortController().signal;

async function paths(cwd: string, start = ""): Promise<string[]> {
  const root = await rootOf(cwd);
  const found: string[] = [];
  for await (const { path, kind } of walk(root, await folderAt(root, start), signal))
    found.push(kind === "directory" ? `${path}/` : path);
  return found;
}

test("a walk goes through a tree in the order of names, without .git and ignored files", async () => {
  const cwd = tempFolder({
    ".git/HEAD": "",
    ".gitignore": "dist/\n*.log\n",
    ".env": "",
    "b/z.ts": "",
    "b/a.log": "",
    "b/.gitignore": "!a.log\nz.ts\n",
    "b/c/z.ts": "",
    "dist/x.js": "",
    "a.ts": "",
    "node_modules/m/index.js": "",
  });
  expect(await paths(cwd)).toEqual([
    ".env",
    ".gitignore",
    "a.ts",
    "b/",
    "b/.gitignore",
    "b/a.log",
    "b/c/",
    "node_modules/",
    "node_modules/m/",
    "node_modules/m/index.js",
  ]);
});

test("ignore rules above the start folder apply, up to the top of the repository", async () => {
  const cwd = tempFolder({
    ".gitignore": "*.never\n",
    "repo/.git/HEAD": "",
    "repo/.gitignore": "/pkg/build\n*.log\n",
    "repo/pkg/build/x": "",
    "repo/pkg/a.log": "",
    "repo/pkg/b.never": "",
  });
  expect(await paths(join(cwd, "repo/pkg"))).toEqual(["b.never"]);
  expect(await paths(join(cwd, "repo"), "pkg")).toEqual(["pkg/b.never"]);
});

test("without a repository only the rules of the root apply", async () => {
  const cwd = tempFolder({ ".gitignore": "*\n", "ws/.gitignore": "*.log\n", "ws/src/a.ts": "", "ws/src/a.log": "" });
  expect(await paths(join(cwd, "ws"), "src")).toEqual(["src/a.ts"]);
});

test("a nested repository has its own ignore rules in a walk", async () => {
  const cwd = tempFolder({ ".git/HEAD": "", ".gitignore": "*.log\n", "vendor/.git/HEAD": "", "vendor/a.log": "" });
  expect(await paths(cwd)).toEqual([".gitignore", "vendor/", "vendor/a.log"]);
});

test("a walk shows an ignored folder when it is requested by name", async () => {
  const cwd = tempFolder({ ".gitignore": "dist/**\ndist\n", "dist/deep/x.js": "" });
  expect(await paths(cwd)).toEqual([".gitignore"]);
  expect(await paths(cwd, "dist")).toEqual(["dist/deep/", "dist/deep/x.js"]);
});

test("PATH-10: links are listed and not followed", async () => {
  const cwd = tempFolder({ "a/x": "" });
  symlinkSync("/", join(cwd, "l"));
  symlinkSync("..", join(cwd, "a/up"));
  expect(await paths(cwd)).toEqual(["a/", "a/up", "a/x", "l"]);
});

test("a pipe or a link called .gitignore is ignored", async () => {
  const cwd = tempFolder({ "a/x": "", "b/x": "", rules: "x" });
  execFileSync("mkfifo", [join(cwd, "a/.gitignore")]);
  symlinkSync("../rules", join(cwd, "b/.gitignore"));
  expect(await paths(cwd)).toEqual(["a/", "a/.gitignore", "a/x", "b/", "b/.gitignore", "b/x", "rules"]);
});

test("a walk keeps nested folders in order, however many are read ahead", async () => {
  const cwd = tempFolder();
  const wanted: string[] = [];
  for (let n = 10; n < 40; n++) {
    mkdirSync(join(cwd, `d${n}/e/f`), { recursive: true });
    wanted.push(`d${n}/`, `d${n}/e/`, `d${n}/e/f/`);
  }
  expect(await paths(cwd)).toEqual(wanted);
});

test("an abort signal ends the traversal of a folder", async () => {
  const root = await rootOf(tempFolder({ a: "", b: "" }));
  const stop = new AbortController();
  const seen: string[] = [];
  const all = async (): Promise<void> => {
    for await (const { path } of walk(root, await folderAt(root, ""), stop.signal)) {
      seen.push(path);
      stop.abort(new Error("enough"));
    }
  };
  await expect(all()).rejects.toThrow("enough");
  expect(seen).toEqual(["a"]);
});
