import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { repository, shell, tryShell } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { type GitContextOptions, getGitContext } from "./git-context.ts";

const EVERYTHING: GitContextOptions = { branch: true, status: true, diff: true, diffStats: true, log: 5 };
const commit = "git add -A && git commit -q --allow-empty -m init";

describe("the git context", () => {
  test("contains all parts in a fixed order", async () => {
    const folder = repository("echo one > a.txt", commit, "echo two > a.txt");
    const text = await getGitContext(EVERYTHING, folder);
    const titles = Array.from(text.matchAll(/^\*\*(.+?):\*\*/gm), (match) => match[1]);
    expect(titles).toEqual(["Branch", "Git Status", "Changed Files", "Git Diff", "Recent Commits"]);
    expect(text).toContain(" M a.txt");
    expect(text).toContain("a.txt | 2 +-");
    expect(text).toContain("-one\n+two");
  });

  test("reports a clean tree, and leaves out empty parts", async () => {
    const clean = repository(commit);
    expect(await getGitContext({ status: true, diff: true, diffStats: true }, clean)).toBe(
      "## Git Context\n\n**Git Status:** (clean)",
    );
    expect(await getGitContext({ diff: true }, clean)).toBe("");
  });

  test("handles a repository without commits and a detached head", async () => {
    const unborn = repository("echo hi > f.txt", "git add f.txt");
    const text = await getGitContext(EVERYTHING, unborn);
    expect(text).toContain("**Branch:** main");
    expect(text).toContain("+hi");
    expect(text).toMatch(/\*\*Recent Commits:\*\* \(left out: /);
    const detached = repository(commit, "git checkout -q --detach");
    expect(await getGitContext({ branch: true }, detached)).toMatch(/\*\*Branch:\*\* \(detached at [0-9a-f]{7,}\)$/);
  });

  test("works from a folder below, and in a linked work tree", async () => {
    const folder = repository(
      "mkdir sub && echo hi > sub/f.txt",
      commit,
      "git worktree add -q ../linked-$(basename $PWD) -b side",
    );
    const linked = `${join(folder, "..")}/linked-${folder.split("/").at(-1)}`;
    try {
      expect(await getGitContext({ branch: true }, join(folder, "sub"))).toContain("**Branch:** main");
      expect(await getGitContext(true, linked)).toBe("## Git Context\n\n**Branch:** side\n\n**Git Status:** (clean)");
    } finally {
      rmSync(linked, { recursive: true, force: true });
    }
  });

  test("is empty and starts no git when nothing is requested", async () => {
    for (const options of [false, {}, { log: 0 }, { log: false }, { status: false }]) {
      expect(await getGitContext(options, "/nowhere")).toBe("");
    }
  });
});

describe("GIT-01: programs that the repository names", () => {
  /** A repository that runs a program wherever git lets it; each leaves its name in `pwned`. */
  function hostile(): { folder: string; pwned: () => string[] } {
    const top = tempFolder({ "ws/a.txt": "one\n", "ws/b.bin": "one\n", "ws/c.odd": "one\n", "ws/d.inc": "one\n" });
    const [folder, marks] = [join(top, "ws"), join(top, "pwned")];
    mkdirSync(marks);
    const program = (name: string): string => {
      const file = join(top, name);
      writeFileSync(file, `#!/bin/sh\ntouch ${marks}/${name}\ncat 2>/dev/null\n`);
      chmodSync(file, 0o755);
      return file;
    };
    writeFileSync(
      join(folder, ".gitattributes"),
      "*.txt filter=evil diff=evil\n*.bin filter=proc diff=conv\n*.odd filter=odd=name\n*.inc filter=inc\n",
    );
    shell(folder, `git init -q -b main && ${commit}`);
    writeFileSync(
      join(top, "included"),
      `[filter "inc"]\n\tclean = ${program("filter-included")}\n\trequired = true\n`,
    );
    const config = {
      "core.fsmonitor": program("fsmonitor"),
      "core.pager": program("pager"),
      "core.hooksPath": join(top, "hooks"),
      "core.sshCommand": program("ssh"),
      "diff.external": program("diff-external"),
      "diff.evil.command": program("diff-driver"),
      "diff.conv.textconv": program("textconv"),
      "filter.evil.clean": program("filter-clean"),
      "filter.proc.process": program("filter-process"),
      "filter.odd=name.clean": program("filter-odd"),
      "gpg.program": program("gpg"),
      "log.showSignature": "true",
      "format.pretty": "%G? %h %s",
      "pager.log": program("pager-log"),
      "alias.status": `!${program("alias")}`,
      "include.path": join(top, "included"),
    };
    mkdirSync(join(top, "hooks"));
    shell(top, "cp " + program("post-index-change") + " hooks/");
    const signed = shell(folder, "git cat-file commit HEAD").replace(
      "\n\n",
      "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n",
    );
    writeFileSync(join(top, "signed"), signed);
    shell(folder, "git update-ref HEAD $(git hash-object -t commit -w ../signed)");
    for (const [key, value] of Object.entries(config)) shell(folder, `git config '${key}' '${value}'`);
    // Same size but another time: git has to read the files, and therefore to run the clean filters.
    for (const name of ["a.txt", "b.bin", "c.odd", "d.inc"]) {
      writeFileSync(join(folder, name), "two\n");
      utimesSync(join(folder, name), 1, 1);
    }
    for (const mark of readdirSync(marks)) rmSync(join(marks, mark));
    return { folder, pwned: () => readdirSync(marks).toSorted() };
  }

  test("none of them runs, and the state is still reported", async () => {
    const { folder, pwned } = hostile();
    const text = await getGitContext(EVERYTHING, folder);
    expect(pwned()).toEqual([]);
    expect(text).toContain(" M a.txt");
    expect(text).toContain("-one\n+two");
    expect(text).toMatch(/^[0-9a-f]{7,} init$/m);
  });

  test("the test repository works: a plain git runs them", () => {
    const { folder, pwned } = hostile();
    for (const line of [
      "git status",
      "git diff HEAD",
      "git diff --no-ext-diff HEAD",
      "git log",
      "git -c core.fsmonitor=false status",
      "git -c core.fsmonitor=false diff HEAD",
    ]) {
      tryShell(folder, line);
    }
    for (const name of ["a.txt", "b.bin", "c.odd", "d.inc"]) {
      tryShell(folder, `git -c core.fsmonitor=false diff --no-ext-diff HEAD -- ${name}`);
    }
    expect(pwned()).toEqual(
      expect.arrayContaining([
        "fsmonitor",
        "diff-external",
        "diff-driver",
        "textconv",
        "filter-clean",
        "filter-process",
        "filter-odd",
        "filter-included",
        "gpg",
        "post-index-change",
      ]),
    );
  });

  test("a configured work tree elsewhere does not show files from there", async () => {
    const top = tempFolder({ "private/notes.txt": "CANARY\n", "ws/notes.txt": "mine\n" });
    const folder = join(top, "ws");
    shell(folder, `git init -q -b main && ${commit} && git config core.worktree ../../private`);
    expect(shell(folder, "git diff HEAD")).toContain("CANARY");
    const text = await getGitContext(EVERYTHING, folder);
    expect(text).not.toContain("CANARY");
    expect(text).toContain("**Git Status:** (clean)");
  });

  test("a submodule's programs do not run either", async () => {
    const top = tempFolder({ "inner/a.txt": "one\n" });
    shell(join(top, "inner"), `git init -q -b main && ${commit}`);
    const folder = join(top, "ws");
    shell(top, "git init -q -b main ws");
    shell(folder, "git -c protocol.file.allow=always submodule add -q ../inner sub && git commit -q -m init");
    const mark = join(top, "pwned");
    writeFileSync(join(top, "evil"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    shell(join(folder, "sub"), "git config core.fsmonitor ../../evil && echo two > a.txt");
    await getGitContext(EVERYTHING, folder);
    expect(() => statSync(mark)).toThrow("ENOENT");
    tryShell(folder, "git status");
    expect(statSync(mark).isFile()).toBe(true);
  });
});

describe("GIT-02: slow, huge and incomplete repositories", () => {
  test("a missing object of a partial clone is not fetched", async () => {
    const folder = repository("echo one > a.txt", commit);
    const mark = join(folder, "pwned");
    const blob = shell(folder, "git rev-parse HEAD:a.txt").trim();
    shell(folder, `rm -f .git/objects/${blob.slice(0, 2)}/${blob.slice(2)} && echo two > a.txt`);
    shell(folder, `git config core.repositoryFormatVersion 1 && git config extensions.partialClone origin`);
    shell(folder, `git config remote.origin.promisor true && git config protocol.ext.allow always`);
    shell(folder, `git config remote.origin.url 'ext::touch ${mark}'`);
    const text = await getGitContext({ branch: true, diff: true }, folder);
    expect(() => statSync(mark)).toThrow("ENOENT");
    expect(text).toContain("**Branch:** main");
    expect(text).toMatch(/\*\*Git Diff:\*\* \(left out: /);
    tryShell(folder, "git diff HEAD");
    expect(statSync(mark).isFile()).toBe(true);
  });

  test("the index is not written", async () => {
    const folder = repository("echo one > a.txt", commit);
    utimesSync(join(folder, "a.txt"), 1, 1);
    const index = () => readFileSync(join(folder, ".git/index")).toString("hex");
    const before = index();
    await getGitContext(EVERYTHING, folder);
    expect(index()).toBe(before);
    shell(folder, "git status");
    expect(index()).not.toBe(before);
  });

  test("a diff of megabytes is cut between two characters, and a note says that it was cut", async () => {
    const folder = repository("touch a.txt", commit);
    writeFileSync(join(folder, "a.txt"), "漢字\n".repeat(500_000));
    const text = await getGitContext({ diff: true }, folder);
    expect(text.endsWith("```\n(cut: there is more)")).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(52_000);
    expect(text).not.toContain("\ufffd");
  });

  test("git in a repository that hangs is stopped after some seconds", async () => {
    const folder = repository(commit, "mkfifo pipe", "git config include.path ../pipe");
    expect(await getGitContext(true, folder)).toMatch(
      /^\(git context left out: git (?:is blocked, because one of the files that it reads is a named pipe|took longer than 10 s)\)$/,
    );
  });

  test("a caller that aborts does not wait for git", async () => {
    const folder = repository(commit, "mkfifo pipe", "git config include.path ../pipe");
    const text = await getGitContext(true, folder, { signal: AbortSignal.timeout(50) });
    expect(text).toBe("(git context left out: cancelled)");
  });
});

describe("GIT-03: invalid commit counts", () => {
  test.each([1.5, -1, Number.NaN, 1e9, "1; touch pwned", "--output=pwned", null])(
    "a log of %j is omitted with a note",
    async (log) => {
      const folder = repository(commit);
      const text = await getGitContext({ branch: true, log } as GitContextOptions, folder);
      expect(text).toMatch(
        /\*\*Branch:\*\* main(\n\n\*\*Recent Commits:\*\* \(left out: log has to be a whole number up to 1000\))?$/,
      );
      expect(text.includes("left out")).toBe(log !== null);
      expect(readdirSync(folder)).toEqual([".git"]);
    },
  );

  test("options of the wrong type request nothing", async () => {
    const folder = repository(commit);
    for (const options of ["true", 1, null, undefined]) {
      expect(await getGitContext(options as unknown as boolean, folder)).toBe("");
    }
  });

  test("log: true means ten commits", async () => {
    const folder = repository("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git commit -q --allow-empty -m c$i; done");
    const text = await getGitContext({ log: true }, folder);
    expect(text.match(/ c\d+$/gm)).toHaveLength(10);
  });
});

describe("GIT-04: repositories of other owners", () => {
  function strangers(ctx: TestContext): string {
    if (process.getuid?.() !== 0) ctx.skip("only root can give a repository to another user");
    const folder = repository(commit);
    shell(folder, "chown -R 12345 .");
    return folder;
  }

  test("a repository of another user is refused as git refuses it", async (ctx) => {
    const folder = strangers(ctx);
    expect(await getGitContext(true, folder)).toBe(
      "(git context left out: the repository belongs to another user, and git's safe.directory does not list it)",
    );
  });

  test("a repository that safe.directory of the user lists is used", async (ctx) => {
    const folder = strangers(ctx);
    const home = tempFolder({ ".gitconfig": `[safe]\n\tdirectory = ${folder}\n` });
    expect(await getGitContext({ branch: true }, folder, { home })).toBe("## Git Context\n\n**Branch:** main");
  });

  test("a bare repository in the tree is not used, from inside or beside a broken .git", async () => {
    const top = tempFolder();
    shell(top, "git init -q -b trap --bare evil");
    expect(await getGitContext(true, join(top, "evil"))).toBe("(not a git repository)");
    mkdirSync(join(top, "evil", ".git"));
    expect(await getGitContext({ branch: true }, join(top, "evil"))).not.toContain("trap");
  });

  test("a broken repository is reported, and the parent repository is not used instead", async () => {
    const folder = repository(commit);
    mkdirSync(join(folder, "sub", ".git"), { recursive: true });
    const text = await getGitContext(true, join(folder, "sub"));
    expect(text).toMatch(/^\(git context left out: .*not a git repository/i);
    expect(text).not.toContain("\n");
  });

  test("a folder without a repository is reported", async () => {
    expect(await getGitContext(true, tempFolder())).toBe("(not a git repository)");
  });
});

describe("GIT-05 and SEC-09: texts in the repository", () => {
  test("control characters, code fences and headings in a repository cannot pass for text of subcrew", async () => {
    const folder = repository();
    writeFileSync(join(folder, "name\u001b[31m"), "");
    writeFileSync(join(folder, "f.md"), "```\n## Git Context\n\u001b]0;title\u0007\u202e");
    shell(folder, `git add f.md && git commit -q -m "$(printf 'subj\\033[2J \`\`\`\`')"`);
    writeFileSync(join(folder, "f.md"), "```\n## Fake\n\u001b]0;title\u0007\u202e");
    const text = await getGitContext(EVERYTHING, folder);
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).toContain('?? "name\\033[31m"');
    expect(text).toContain("␛]0;title␇");
    expect(text).toMatch(/\*\*Git Diff:\*\*\n````diff\n/);
    expect(text).toMatch(/\*\*Recent Commits:\*\*\n`````\n[0-9a-f]+ subj␛\[2J ````\n`````/);
  });

  test("a branch name that looks like markup stands in a code span", async () => {
    const folder = repository(commit, "git checkout -q -b '__x__`y`<b>'");
    expect(await getGitContext({ branch: true }, folder)).toBe("## Git Context\n\n**Branch:** `` __x__`y`<b> ``");
  });

  test("a branch or tag called HEAD, or named like an option, changes nothing", async () => {
    const folder = repository(
      commit,
      "git update-ref refs/heads/--output=pwned HEAD",
      "git tag HEAD",
      "git symbolic-ref HEAD refs/heads/--output=pwned",
    );
    const text = await getGitContext(EVERYTHING, folder);
    expect(text).toContain("**Branch:** `--output=pwned`");
    expect(text).toContain(" init\n");
    expect(readdirSync(folder)).toEqual([".git"]);
  });

  test("passwords in addresses are masked", async () => {
    const folder = repository(
      "echo 'url = https://user:CANARY@host/x.git' > c",
      "git add c",
      "git commit -q -m 'see ssh://CANARY@host/y'",
    );
    shell(folder, "echo 'url = https://user:CANARY@host/x.git?' > c");
    const text = await getGitContext(EVERYTHING, folder);
    expect(text).not.toContain("CANARY");
    expect(text).toContain("+url = https://***@host/x.git?");
    expect(text).toContain("see ssh://***@host/y");
  });
});
