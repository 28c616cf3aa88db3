import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../needs.ts";
import { call, play } from "../../support/play.ts";
import { shell } from "../../support/repository.ts";

let bwrap: Need;
beforeAll(async () => {
  bwrap = await needs("bwrap");
}, needsTimeout);

/** A repository whose configuration names files of its work tree; commands in the sandbox see it, unlike /tmp. */
function workspace(files: Readonly<Record<string, string>>): string {
  const cache = join(import.meta.dirname, "../../../.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "configured-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  shell(folder, "git init -q -b main; git add -A; git commit -q --allow-empty -m first");
  shell(folder, "git config include.path ../dev/git.cfg; git config core.hooksPath dev/hooks");
  return folder;
}

const bypass = { permissions: { mode: "bypass" as const } };

test("file tools cannot create or change a file that git's configuration names, unless a rule names it", async () => {
  const cwd = workspace({ "dev/a.txt": "a", "pkg/b.txt": "b" });
  shell(join(cwd, "pkg"), "git init -q; git config diff.x.textconv ./conv.sh");
  const writes = ["dev/git.cfg", "DEV/Git.cfg", "dev/hooks/pre-commit", "pkg/conv.sh", "dev/b.txt", "pkg/c.txt"];
  const calls = [
    ...writes.map((path) => ({ name: "write_file", input: { path, content: "x" } })),
    { name: "move_file", input: { from: "dev/a.txt", to: "dev/hooks" } },
  ];
  const { denied, ended } = await play([{ calls }], { cwd, ...bypass });
  expect(denied.map(({ rule }) => rule).toSorted()).toEqual([
    ...["protected dev/git.cfg", "protected dev/git.cfg", "protected dev/hooks", "protected dev/hooks"],
    "protected pkg/conv.sh",
  ]);
  expect(ended.filter(({ error }) => !error)).toHaveLength(2);
  const allowed = await play([call("write_file", { path: "dev/git.cfg", content: "x" })], {
    cwd,
    permissions: { mode: "bypass", allow: ["write_file(dev/git.cfg)"] },
  });
  expect(allowed.denied).toEqual([]);
});

test("commands cannot change a file that git's configuration names, and a new file of that name is quarantined", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const script =
    "echo '[core] fsmonitor = touch x' > dev/git.cfg; echo x > dev/hooks/pre-push; echo x > dev/hooks/pre-commit; mv dev old; echo x > pkg/watch.sh; echo x > dev/c.txt";
  const cwd = workspace({ "dev/hooks/pre-push": "exit 0\n", "pkg/b.txt": "b", "make.sh": script });
  shell(join(cwd, "pkg"), "git init -q; git config core.fsmonitor ./watch.sh");
  const { ended } = await play([call("bash", { command: "sh make.sh" })], { cwd, ...bypass });
  expect(ended[0]?.text).toContain("dev/git.cfg.refused-");
  expect(["dev/git.cfg", "dev/hooks/pre-commit", "pkg/watch.sh"].filter((path) => existsSync(join(cwd, path)))).toEqual(
    [],
  );
  expect(readFileSync(join(cwd, "dev/hooks/pre-push"), "utf8")).toBe("exit 0\n");
  expect(readFileSync(join(cwd, "dev/c.txt"), "utf8")).toBe("x\n");
});

test("a task in a worktree cannot bring back a file that git's configuration names", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const cwd = workspace({ "make.sh": "mkdir -p dev; echo x > dev/git.cfg; echo b > b.txt" });
  const calls = [
    call("write_file", { path: "dev/hooks/pre-commit", content: "x" }),
    call("bash", { command: "sh make.sh" }),
    call("bash", { command: "echo x > dev/git.cfg" }),
  ];
  await play(calls, { cwd, ...bypass, input: { isolation: "worktree" } });
  expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("b\n");
  expect(["dev/hooks", "dev/git.cfg"].filter((path) => existsSync(join(cwd, path)))).toEqual([]);
});
