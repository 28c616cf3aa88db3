import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { gitSettings } from "../../core/policy/git-settings.ts";
import { createConfiguredFiles } from "./configured-files.ts";

/** The paths that this git configuration of a workspace names, for example a folder of hooks. */
function places(config: string, files: Readonly<Record<string, string>> = {}): readonly string[] {
  const all = tempFolder({ "ws/.git/config": config, "ws/src/a.ts": "", "home/x": "", ...files });
  const found = createConfiguredFiles({ homes: [join(all, "home")], env: { GIT_CONFIG_SYSTEM: join(all, "system") } });
  const below = found.below(join(all, "ws"));
  return below.filter((place) => !below.some((other) => place.startsWith(`${other}/`))).toSorted();
}

test.each<[setting: string, config: string, places: string[]]>([
  ["include.path", "[include] path = ../dev/Git.cfg", ["dev/git.cfg"]],
  ["includeIf", '[includeIf "gitdir:/nowhere/"]\n\tpath = "../dev/a b.cfg" ; why', ["dev/a b.cfg"]],
  ["a hooks folder", "[core]\nHooksPath = dev/hooks/", ["dev/hooks"]],
  ["a template folder", "[init] templateDir=./tpl", ["tpl"]],
  ["a hooks folder above the work tree", "[core]\nhooksPath = ..", []],
  ["signers", "[gpg.ssh] allowedSignersFile = signers", ["signers"]],
  ["certificates", '[http "https://x.org"] sslCAInfo = dev/ca.pem', ["dev/ca.pem"]],
  ["a file system monitor", "[core] fsmonitor = .dev/watch", [".dev/watch"]],
  ["a filter", '[filter "x"]\nclean = dev/clean --in %f\nsmudge = cat', ["dev/clean"]],
  ["a script of an interpreter", '[diff "x"] textconv = python3 -u conv.py', ["conv.py"]],
  ["a script of an interpreter without a file extension", '[diff "x"] command = sh show', []],
  [
    "a folder in which the shell looks for programs",
    '[core] sshCommand = "$(git rev-parse --show-toplevel)/dev/ssh -Fdev/ssh_config"',
    ["dev/ssh", "dev/ssh_config"],
  ],
  ["the folder of the repository", "[core] pager = ${GIT_DIR}/../page", ["page"]],
  ["a continued line", "[core] editor = dev/\\\nedit", ["dev/edit"]],
  ["an alias that is a program", "[alias] go = !./go.sh\nst = status src/a.ts", ["go.sh"]],
  ["a credential helper", '[credential "https://x"] helper = "!dev/login get"', ["dev/login"]],
  ["an unknown setting", '[acme "tool"] command = ./acme', ["acme"]],
  ["an existing folder", "[acme] command = lint src/", []],
  [
    "data",
    "[core]\nexcludesFile = x.ignore\nattributesFile = x.attr\n[commit] template = t\n[mailmap] file = m\n[blame] ignoreRevsFile = r",
    [],
  ],
  [
    "a URL",
    '[remote "o"]\nurl = ./src/o.git\nfetch = +refs/heads/*:refs/remotes/o/*\n[branch "a/b"] merge = refs/heads/a',
    [],
  ],
  ["a file outside of the work tree", "[core] hooksPath = /usr/share/hooks\npager = less -R", []],
])("files that git's configuration names: %s", (_, config, expected) => {
  expect(places(config)).toEqual(expected.toSorted());
});

test("files that nested commands in git's configuration name are found, too", () => {
  const found = places(`[merge "x"] driver = "sh -c \\"'dev/my merge' %A; ./next.sh\\""`);
  expect(found).toEqual(expect.arrayContaining(["dev/my merge", "next.sh"]));
});

test("a word without a file extension in a command of git's configuration is a script only if that file exists", () => {
  expect(places('[diff "x"] command = sh show', { "ws/show": "" })).toEqual(["show"]);
});

test("if git's hooks folder is the workspace itself, files with the names of hooks are protected", () => {
  const found = places("[core] hooksPath = .");
  expect(found).toContain("pre-commit");
  expect(found.filter((place) => place.startsWith("src"))).toEqual([]);
});

test("included git configuration, the user's, and that of linked work trees are read, too, and again after a change", () => {
  const all = tempFolder({
    "main/.git/config": "[include] path = more",
    "main/.git/more": "[include] path = ../../ws/dev/one\n[include] path = more",
    "main/.git/worktrees/ws/commondir": "../..\n",
    "main/.git/worktrees/ws/config.worktree": "[core] pager = ./two",
    "ws/.git": "gitdir: ../main/.git/worktrees/ws\n",
    "ws/dev/one": "[include] path = three",
    "ws/sub/.git/config": "[core] hooksPath = four",
    "home/.gitconfig": "[core] fsmonitor = ./five",
    "xdg/git/config": "[include] path = ~/links/six",
    "home/real/x": "",
  });
  symlinkSync("../ws", join(all, "home/links"));
  const files = createConfiguredFiles({ homes: [join(all, "home")], env: { XDG_CONFIG_HOME: join(all, "xdg") } });
  const found = (): string[] =>
    files
      .below(join(all, "ws"))
      .filter((place) => !/hooks|four\//.test(place))
      .toSorted();
  expect(found()).toEqual(["dev/one", "dev/three", "five", "six", "two"]);
  files.learnAbove(join(all, "ws"), join(all, "ws/sub/x"));
  expect(found()).toEqual(["dev/one", "dev/three", "five", "six", "sub/five", "sub/four", "two"]);
  expect(files.learn([join(all, "ws/sub/.git")])).toBe(false);
  writeFileSync(join(all, "home/.gitconfig"), "[core] fsmonitor = ./seven1");
  expect(found()).toContain("seven1");
});

test("git's configuration files are read as git reads them", () => {
  const text = [
    '[a "B \\"c\\\\"] Key = "x # y" z ; no\r',
    "  other=1\\\n2   # comment",
    "[d.E]f",
    '\t g = a\\tb "  c  "d',
    "[h]i=;",
    "; [no] x = 1",
  ].join("\n");
  const folder = tempFolder({ config: text });
  const listed = execFileSync("git", ["config", "-f", join(folder, "config"), "--list", "-z"], { encoding: "utf8" });
  const expected = listed.split("\0").flatMap((entry) => (entry === "" ? [] : [entry.replace(/\s+/g, " ")]));
  const read = gitSettings(text).map(
    ({ key, value }) => `${key}${value === "" && key === "d.e.f" ? "" : `\n${value}`}`,
  );
  expect(read.map((entry) => entry.replace(/\s+/g, " "))).toEqual(expected);
});

test("a git repository whose path is longer than the kernel allows is left out", () => {
  const all = tempFolder({ "ws/a.txt": "" });
  const found = createConfiguredFiles({ homes: [], env: { GIT_CONFIG_SYSTEM: join(all, "system") } });
  found.learn([join(all, "ws", ...Array.from({ length: 25 }, () => "d".repeat(200)), ".git")]);
  expect(found.below(join(all, "ws"))).toEqual([]);
});
