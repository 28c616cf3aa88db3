import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { approvalText, visible } from "../../src/core/policy/approval.ts";
import { judge } from "../../src/core/policy/judge.ts";
import type { ShellState } from "../../src/core/policy/judge-call.ts";
import { createPolicy, type PolicyMode } from "../../src/core/policy/policy.ts";
import { parseRules } from "../../src/core/rules/rule.ts";
import { getGitContext } from "../../src/runtime/git/git-context.ts";
import { call, play } from "../support/play.ts";
import { repository } from "../support/repository.ts";
import { tempFolder } from "../support/temp-folder.ts";

const ROOT = "/ws";
const sandboxed: ShellState = { sandboxed: true, waived: false, roots: [ROOT] };
const waived: ShellState = { sandboxed: false, waived: true, roots: [ROOT] };
const without: ShellState = { sandboxed: false, waived: false, roots: [ROOT] };

type Rules = { allow?: string[]; ask?: string[]; deny?: string[]; mode?: PolicyMode; shell?: ShellState };

/** The decision about a command under these rules. */
function decide(
  command: string,
  { allow = [], ask = [], deny = [], mode = "default", shell = waived }: Rules = {},
): string {
  const policy = createPolicy(mode, { allow: parseRules(allow), ask: parseRules(ask), deny: parseRules(deny) });
  return judge(policy, { tool: "bash", does: "exec", effect: "write", subjects: [{ kind: "command", command }], shell })
    .decision;
}

/** None of these commands runs without approval; in an unattended run or with a deny rule they are refused. */
const neverAllowed = (rules: Rules, commands: readonly string[]): void => {
  for (const command of commands) expect([command, decide(command, rules)]).not.toEqual([command, "allow"]);
};
const denied = (rules: Rules, commands: readonly string[]): void => {
  for (const command of commands) expect([command, decide(command, rules)]).toEqual([command, "deny"]);
};
const allowed = (rules: Rules, commands: readonly string[]): void => {
  for (const command of commands) expect([command, decide(command, rules)]).toEqual([command, "allow"]);
};

test("SH-01: every command of a compound command has to be allowed", () => {
  const rules = { allow: ["bash(git log *)"] };
  allowed(rules, [
    "git log",
    "git log --oneline",
    "git log; git log -1",
    "git log && git log || git log | git log",
    "git log\ngit log",
  ]);
  neverAllowed(rules, [
    "git log; rm x",
    "git log && rm x",
    "git log || rm x",
    "git log | sh",
    "git log & rm x",
    "git log\nrm x",
    "rm x; git log",
    "git log;rm x",
    "git log&&rm x",
    "git log|sh",
    "git log&rm x",
    "(git log; rm x)",
    "git log |& sh",
    "git log;;rm x",
    "{ git log; rm x; }",
    "if git log; then rm x; fi",
    "git log &\nrm x",
    "! git log; rm x",
    "git log \\\n; rm x",
    "coproc rm x",
  ]);
  denied({ ...rules, mode: "dontAsk" }, ["git log; rm x", "git log\nrm x"]);
  denied({ ...rules, deny: ["bash(rm)"] }, ["git log; rm x", "git log\nrm x", "(git log; rm x)"]);
  neverAllowed({ allow: ["bash"], deny: ["bash(rm)"] }, ["git log | xargs rm"]);
});

test("SH-02: substituted commands are judged as well", () => {
  const rules = { allow: ["bash(echo *)", "bash(cat *)"] };
  allowed(rules, ["echo a", 'echo "$(cat x)"', "echo $(cat $(echo x))", "cat '$(rm x)'", 'cat "a b"']);
  neverAllowed(rules, [
    "echo $(rm x)",
    'echo "$(rm x)"',
    "echo `rm x`",
    'echo "`rm x`"',
    "echo $(echo $(rm x))",
    "cat <(rm x)",
    "echo a >(rm x)",
    "cat <<E\n$(rm x)\nE",
    "cat <<'E'\nE",
    'echo "a$(rm x)b"',
    "$(rm x)",
    "echo $(cat x; rm y)",
    "cat <<<$(rm x)",
    'cat <<<"$(rm x)"',
  ]);
  denied({ allow: rules.allow, deny: ["bash(rm)"] }, [
    "echo $(rm x)",
    'echo "$(cat "$(rm x)")"',
    "echo `rm x`",
    "cat <(rm x)",
  ]);
});

test("SH-03: redirected files are checked by the file policy", () => {
  const rules = { allow: ["bash(cat *)", "bash(wc *)"] };
  allowed(rules, ["cat a 2>/dev/null", "cat a 2>&1", "wc < a", "cat a >/dev/null 2>&1", "cat a >&2"]);
  const into = ["> f", ">f", ">> f", ">| f", "&> f", "&>> f", "<> f", "2> f", "1>f", ">& f", "2>>f"];
  neverAllowed(
    rules,
    into.map((redirect) => `cat a ${redirect}`),
  );
  allowed(
    { ...rules, mode: "acceptEdits" },
    into.map((redirect) => `cat a ${redirect}`),
  );
  const outside = ["/etc/x", "../x", "a/../../x", "~/x", "~root/x", "/ws-evil/x", "'/etc/x'", "/ws/../etc/x"];
  for (const mode of ["default", "acceptEdits", "bypass"] as const) {
    denied(
      { ...rules, mode },
      outside.flatMap((path) => into.map((redirect) => `cat a ${redirect.replace("f", path)}`)),
    );
    denied(
      { ...rules, mode },
      outside.map((path) => `wc < ${path}`),
    );
  }
  denied({ ...rules, mode: "acceptEdits" }, [
    "cat a > .git/hooks/x",
    "cat a >> .bashrc",
    "cat a > sub/.claude/settings.json",
    "cat a > .GIT/config",
  ]);
  denied({ ...rules, deny: ["read_file(secrets/**)"] }, [
    "wc < secrets/key",
    "wc < ./secrets/key",
    "wc < a/../secrets/key",
    "wc < Secrets/KEY",
  ]);
  neverAllowed({ ...rules, mode: "acceptEdits" }, ["cat a > $X", "cat a > *", "cd sub && cat a > x", "wc < $X"]);
});

test("SH-03: the path that file rules see does not depend on the folder a command starts in, and /tmp is free only in the sandbox", () => {
  const below: ShellState = { sandboxed: true, waived: false, roots: ["/ws/sub", "/cache"], place: "sub" };
  denied({ shell: below, deny: ["read_file(sub/secrets/**)"] }, [
    "cat secrets/a",
    "wc < secrets/a",
    "cat /ws/sub/secrets/a",
  ]);
  allowed({ shell: below, deny: ["read_file(secrets/**)"] }, ["cat secrets/a"]);
  allowed({ shell: below, allow: ["bash(echo *)", "write_file(sub/**)", "write_file(/cache/**)"] }, [
    "echo a > x",
    "echo a > /ws/sub/x",
    "echo a > /cache/x",
    "echo a > /tmp/x",
  ]);
  denied({ shell: below, mode: "bypass" }, [
    "echo a > /ws/x",
    "echo a > /tmp/../etc/x",
    "echo a > /cache/.git/x",
    "echo a > ../x",
  ]);
  denied({ shell: { ...below, sandboxed: false, waived: true }, mode: "bypass" }, ["echo a > /tmp/x"]);
  const inTmp: ShellState = { sandboxed: true, waived: false, roots: ["/tmp/ws"] };
  denied({ shell: inTmp, mode: "bypass" }, ["echo a > /tmp/ws/.git/config"]);
});

test("SH-04: rules match whole words and the program itself", () => {
  const rules = { allow: ["bash(git log *)", "Bash(npm test:*)", "bash(make lint)"] };
  allowed(rules, ["git log", "git log -1 x", "npm test", "npm test -- a", "make lint", "'git' \"log\""]);
  neverAllowed(rules, [
    "git logout",
    "git log-x",
    "git  logs",
    "npm test-evil",
    "/tmp/git log",
    "./git log",
    "git\\ log",
    "'git log'",
    "GIT log",
    "make lint x",
    "make",
    "npm tests",
    "gitlog",
    "npm test:x",
    "bin/npm test",
    "git $X",
    "$X log",
    "g?t log",
    "~/git log",
  ]);
});

test("SH-05: a command that a deny rule names never runs without a question behind a wrapper, and a deny rule wins over an allow rule", () => {
  const plain = ["rm x", "/bin/rm x", "\\rm x", "r'm' x", "A=1 rm x", "ls; rm x", "echo $(rm x)"];
  const wrapped = [
    "env rm x",
    "env -i A=1 rm x",
    "env -u A rm x",
    "sudo rm x",
    "sudo -u root rm x",
    "timeout 5 rm x",
    "timeout -k 1 -s KILL 5 rm x",
    "nice rm x",
    "nice -n 5 rm x",
    "nohup rm x",
    "xargs rm",
    "xargs -0 -n 1 rm",
    "find . -exec rm {} \\;",
    "find . -name a -execdir rm {} +",
    "find . -ok rm {} \\;",
    "command rm x",
    "exec rm x",
    "eval rm x",
    "eval 'rm x'",
    "sh -c 'rm x'",
    'bash -c "rm x"',
    "bash -lc 'ls; rm x'",
    "time rm x",
    "watch rm x",
    "watch -n 1 'rm x'",
    "ssh host rm x",
    "ssh -p 22 host 'rm x'",
    "script -c 'rm x'",
    "setsid rm x",
    "stdbuf -oL rm x",
    "env timeout 5 nice sh -c 'env rm x'",
    "builtin rm x",
    "ls | xargs rm",
    "busybox rm x",
    "unshare rm x",
    "su -c 'rm x'",
    "parallel rm ::: x",
    "env -S 'rm x'",
    "trap 'rm x' EXIT",
    "xargs -Z rm",
    "sudo --chroot=x rm y",
    "flock l rm x",
    "strace rm x",
  ];
  const allow = ["bash(ls *)", "bash(env *)", "bash(sh *)", "bash(timeout *)", "bash(find *)"];
  denied({ allow, deny: ["bash(rm *)"] }, plain);
  denied({ allow: ["bash"], deny: ["bash(rm)"], mode: "bypass" }, plain);
  neverAllowed({ allow, deny: ["bash(rm *)"] }, wrapped);
  neverAllowed({ allow: ["bash"], deny: ["bash(rm)"], mode: "bypass" }, wrapped);
  denied({ deny: ["bash(rm *)"], mode: "dontAsk" }, [...plain, ...wrapped]);
  neverAllowed({ allow }, [...plain, ...wrapped, 'sh -c "$X"', "eval $X", "sh x", "source x", ". x", "ssh host"]);
  allowed({ allow: ["bash(ls *)"], deny: ["bash(rm)"] }, [
    "ls",
    "timeout 5 ls -l",
    "env LANG=C ls",
    "nice ls",
    "time ls",
    "nohup ls",
  ]);
  neverAllowed({ allow: ["bash(ls *)"] }, [
    "sudo ls",
    "ssh host ls",
    "xargs ls",
    "exec ls",
    "sh -c ls",
    "nice -n 5 ls",
    "find . -exec ls \\;",
    "env LD_PRELOAD=x ls",
  ]);
  denied({ deny: ["bash(git push *)"], mode: "bypass" }, [
    "git push",
    "git push -f",
    "git -C x push",
    "git --no-pager push o m",
    "git $X",
    "git -c a=b push",
  ]);
  const mentioned = ["git stash push", "git commit -m push", "git log; echo push"];
  for (const mode of ["default", "bypass"] as const)
    for (const line of mentioned) expect(decide(line, { deny: ["bash(git push *)"], mode })).toBe("ask");
  denied({ deny: ["bash(git push --force *)"], mode: "bypass" }, ["git push origin main --force"]);
});

describe("SH-06: a command is read-only only with options known to be safe", () => {
  const writing = [
    "find . -delete",
    "find . -exec rm {} ;",
    "find . -fprint x",
    "find . -fls x",
    "find . -fprintf x y",
    "find . -okdir x ;",
    "sed -i s/a/b/ x",
    "sed 's/a/b/e' x",
    "sed -n '1w f' x",
    "sed -n '1,2p;w f' x",
    "sed --in-place x",
    "sed 1d x",
    "sort -o x y",
    "sort --output=x y",
    "sort --compress-program=sh y",
    "sort -ox y",
    "sort --outp=x y",
    "uniq a b",
    "uniq -c a b",
    "awk 'BEGIN{system(\"id\")}'",
    "awk '{print > \"f\"}' x",
    "tar xf a",
    "tar tf a --to-command=sh",
    "tar cf a b",
    "tar -I sh tf a",
    "git log --output=x",
    "git diff --ext-diff",
    "git grep -O x",
    "git grep --open-files-in-pager=sh x",
    "git -c core.pager=sh log",
    "git -C /x log",
    "git branch x",
    "git tag x",
    "git remote add a b",
    "git stash",
    "git show --output x",
    "git fetch",
    "git config a b",
    "git push",
    "git log --no-index",
    "git diff --no-index a /etc/passwd",
    "git diff /etc/passwd /etc/hosts",
    "git --exec-path=x log",
    "git p4",
    "git remote show origin",
    "rg --pre sh x",
    "rg -z x",
    "rg --search-zip x",
    "rg --hostname-bin=sh x",
    "rg --pre=sh x",
    "grep -f /etc/passwd x",
    "grep --file=x y",
    "ed x",
    "vim x",
    "vim -c ':!id'",
    "less x",
    "more x",
    "man x",
    "curl http://x",
    "curl -o f http://x",
    "wget http://x",
    "wget -O- http://x",
    "tree -o x",
    "file -C -m x",
    "date -s 1",
    "date --set=1",
    "hostname x",
    "printf -v a b",
    "env sh",
    "tee x",
    "dd of=x",
    "cp a b",
    "touch x",
    "ls $(id)",
    "cat `id`",
    "diff --to-file=x y",
    "jq -f x y",
    "jq --from-file x",
    "xargs cat",
    "stat --foo",
    "tail -f x",
    "tail --pid=1 x",
    "cat $X",
    "ls *",
    "cat -- /etc/passwd",
    "cat /etc/passwd",
    "ls ~",
    "ls ..",
    "head ../x",
    "cat a/../../x",
    "grep x /etc/passwd",
    "find / -name a",
    "cd / && ls",
    "cd .. && cat x",
    "pushd a; ls",
    "cd a; cat ../x",
    "LD_PRELOAD=x ls",
    "GIT_PAGER=sh git log",
    "git blame -L /x/,+1 --contents=/x a",
  ];
  const reading = [
    "ls",
    "ls -la src",
    "cat a b",
    "head -20 x",
    "head -n 5 x",
    "tail -n +3 x",
    "wc -l x",
    "grep -rn foo src",
    "grep -e foo -i x",
    "grep -A 3 a b",
    "rg foo src",
    "rg -n -g '*.ts' foo",
    "find . -name '*.ts' -type f",
    "find src -maxdepth 2 -newer a -print0",
    "find . '(' -name a -o -name b ')' -prune",
    "git log --oneline -5",
    "git log -n 3 --stat -- src",
    "git diff HEAD~1",
    "git diff --cached --name-only",
    "git status -s",
    "git show HEAD:x",
    "git --no-pager log",
    "git branch -a",
    "git branch --show-current",
    "git tag -l",
    "git remote -v",
    "git blame x",
    "git ls-files",
    "git stash list",
    "sort -u x",
    "sort -k 2 -t , x",
    "uniq -c x",
    "cut -d: -f1 x",
    "diff -u a b",
    "stat x",
    "pwd",
    "echo a b",
    "printf '%s' a",
    "date +%s",
    "date -u",
    "cat a | grep b | sort | uniq -c | head -3",
    "ls; pwd",
    "cd src && ls",
    "ls src/*.ts",
    "sed -n 1,20p x",
    "sed -n '5p' x",
    "LANG=C sort x",
    "git rev-parse --abbrev-ref HEAD",
    "which git",
    "command -v git",
    "type ls",
    "tree -L 2",
    "jq -r .a x",
    "ls /ws/src",
    "cat a > /dev/null",
    "true",
  ];

  test("these commands run in the sandbox", () => allowed({ shell: sandboxed }, reading));
  test("these commands do not run in the sandbox", () => neverAllowed({ shell: sandboxed }, writing));
  test("without the sandbox even reading needs approval, because a link can lead anywhere", () =>
    neverAllowed({ shell: waived }, reading));
  test("plan mode runs no program at all", () => denied({ mode: "plan", shell: sandboxed }, reading));
  test("a deny rule for a file applies to commands that read it", () => {
    denied({ shell: sandboxed, deny: ["read_file(secrets/**)"] }, [
      "cat secrets/a",
      "cat ./secrets/a",
      "head -3 x/../secrets/a",
      "ls secrets",
      "ls Secrets/",
    ]);
  });
});

test("SH-07: expansions that run or set something are not parsed, not even in quoted subscripts", () => {
  const rules = { allow: ["bash(echo *)", "bash(test *)", "bash(printf *)", "bash([ *)"] };
  allowed(rules, ["echo $HOME", "echo ${HOME}", "test -f x", "printf %s a", "echo '${a:=b}'", "[ -f x ]"]);
  neverAllowed(rules, [
    "echo ${x@P}",
    "echo ${x@E}",
    "echo ${x:=y}",
    "echo ${x=y}",
    "echo ${!x}",
    "echo ${!x*}",
    "echo ${x:-$(rm y)}",
    "echo ${x/a/b}",
    "echo ${#x}",
    "echo $((x))",
    "echo $((a[$(rm y)]))",
    "echo $[1]",
    "echo ${x[1]}",
    "echo ${x[$(rm y)]}",
    "test -v 'x[$(rm y)]'",
    "[ -v 'x[$(rm y)]' ]",
    "printf -v 'x[$(rm y)]' a",
    "printf '%s' 'a[`rm y`]'",
    'echo "${x@P}"',
    "echo $'\\x24(rm y)'",
    "x[$(rm y)]=1",
    "let 'a[$(rm y)]'",
    "echo {a,b}",
    "((x))",
  ]);
});

test("SH-08: a line that cannot be parsed is refused where there are deny rules, whatever its length or number of commands", () => {
  const rules = { deny: ["bash(curl *)"], allow: ["bash"] };
  const many = Array.from({ length: 200 }, (_, n) => `echo ${n}`);
  denied(rules, [
    "echo 'a",
    'echo "a',
    "echo $(",
    "for i in 1; do curl x; done",
    "if true; then curl x; fi",
    "f() { curl x; }; f",
    "case x in x) curl;; esac",
    "cat <<E | sh\ncurl x\nE",
    "`echo curl` x",
    "$CMD x",
    "c${x}url y",
    "a\0b",
    "echo ‮",
    "a\rb",
    "{ curl x; }",
    [...many, "curl x"].join("; "),
    [...many, "curl x"].join(" && "),
    [...many, "curl x"].join("\n"),
    `echo ${"a".repeat(1e5)}; curl x`,
    `echo ${"a".repeat(1e5)}`,
    `${"(".repeat(60)}curl x${")".repeat(60)}`,
    `echo ${"$(".repeat(60)}curl${")".repeat(60)}`,
    "{cu,}rl x",
  ]);
  neverAllowed(rules, ['eval "$(echo curl)"', "echo curl"]);
  allowed(rules, ["echo a", many.join("; ")]);
  neverAllowed({}, ["for i in 1; do ls; done", `echo ${"a".repeat(100_000)}`]);
});

test("SH-09: variables before a command must be harmless ones", () => {
  const rules = { allow: ["bash(git diff *)", "bash(ls *)"] };
  allowed(rules, ["LANG=C git diff", "LC_ALL=C ls", "NO_COLOR=1 git diff", "env TZ=UTC ls"]);
  neverAllowed(rules, [
    "LD_PRELOAD=./x ls",
    "PATH=.:$PATH ls",
    "BASH_ENV=x ls",
    "ENV=x ls",
    "GIT_EXTERNAL_DIFF=x git diff",
    "GIT_PAGER=x git diff",
    "PAGER=x git diff",
    "GIT_SSH_COMMAND=x git diff",
    "IFS=x ls",
    "PATH=/tmp; ls",
    "LD_PRELOAD=x",
    "export PATH=/tmp; ls",
    "env LD_PRELOAD=x ls",
    "PATH+=:/tmp ls",
    "HOME=/tmp git diff",
    "GIT_CONFIG_GLOBAL=x git diff",
    "PYTHONPATH=x ls",
    "NODE_OPTIONS=--require=x ls",
    "LANG=C LD_PRELOAD=x ls",
    "declare PATH=x; ls",
  ]);
});

test("SH-10: a text that looks like an option is never one for the programs that tools call", async () => {
  const cwd = tempFolder({ "a.txt": "-rf --help -e x\n", "-e": "an odd name\n", "--pre=sh": "x\n" });
  const odd = ["-e", "--help", "--pre=touch pwned", "-f", "--files", "-z", "--hostname-bin=sh", "-"];
  const calls = odd.flatMap((word) => [
    call("grep_files", { pattern: word }),
    call("grep_files", { pattern: "x", path: word, glob: word }),
    call("glob", { pattern: word }),
    call("read_file", { path: word }),
  ]);
  for (let at = 0; at < calls.length; at += 10) await play(calls.slice(at, at + 10), { cwd });
  expect(readdirSync(cwd).toSorted()).toEqual(["--pre=sh", "-e", "a.txt"]);
  const { ended } = await play(
    [
      call("grep_files", { pattern: "-rf" }),
      call("grep_files", { pattern: "--help" }),
      call("read_file", { path: "-e" }),
    ],
    { cwd },
  );
  expect(ended.map(({ error }) => error)).toEqual([false, false, false]);
  expect(ended[0]!.text).toContain("a.txt:1");
  expect(ended[2]!.text).toContain("an odd name");
});

test("SH-11: no file name is ever part of a command", async () => {
  const names = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "a\nb",
    "-x",
    "| touch pwned",
    "'; touch pwned #",
    '"; touch pwned #',
    "&& touch pwned",
  ];
  const cwd = repository();
  for (const name of names) writeFileSync(join(cwd, name), "text\n");
  const { ended } = await play(
    [
      call("list_files", {}),
      call("grep_files", { pattern: "text" }),
      call("glob", { pattern: "*" }),
      ...names.slice(0, 5).map((path) => call("get_file_info", { path })),
    ],
    { cwd },
  );
  expect(ended.filter(({ error }) => error)).toEqual([]);
  await getGitContext({ branch: true, status: true, diff: true, diffStats: true, log: 5 }, cwd);
  expect(existsSync(join(cwd, "pwned"))).toBe(false);
});

test("SH-12: a question shows everything that will run, and no part of it can hide", () => {
  const verdict = { decision: "ask", rule: "mode default", why: "the call runs a program", hint: "" } as const;
  const shown = (command: string): string => approvalText({ agent: "a", tool: "bash", input: { command }, verdict });
  expect(shown("ls\u001b[2K\rrm -rf x")).toContain("ls\\u{1b}[2K\\rrm -rf x");
  expect(shown("echo \u202egpj.exe")).toContain("echo \\u{202e}gpj.exe");
  expect(shown("e\u200bcho \ufeffa \u{e0041}")).toContain("e\\u{200b}cho \\u{feff}a \\u{e0041}");
  expect(shown(`ls${" ".repeat(5_000)}; rm -rf x`)).toContain("ls[5000 blanks]; rm -rf x");
  expect(shown(`ls${"\n".repeat(500)}rm -rf x`)).toContain("[499 empty lines]\n    · rm -rf x");
  expect(shown(`ls ${"a".repeat(20_000)}; rm -rf x`)).toContain(`${"a".repeat(20_000)}; rm -rf x`);
  expect(shown("a\\u{1b}")).toContain("a\\\\u{1b}"); // a literal backslash is shown differently
  expect(shown("x\ny wants to use read_file:\n  path: a")).toContain(
    "    · y wants to use read_file:\n    ·   path: a",
  );
  expect(shown(`ls a${"\u0301".repeat(5_000)}; rm -rf x`)).toContain("ls a[5000 combining marks]; rm -rf x");
  const named = { "x\n\ny wants to use read_file:\n  path: a\u001b[2J": "rm -rf x", command: "ls" };
  expect(approvalText({ agent: "a", tool: "mcp__x__y", input: named, verdict }).split("\n")).toEqual([
    "a wants to use mcp__x__y (the call runs a program):",
    "  x\\n\\ny wants to use read_file:\\n  path: a\\u{1b}[2J: rm -rf x",
    "  command: ls",
  ]);
  expect(visible("plain text, ümläut, 漢字\tand tab")).toBe("plain text, ümläut, 漢字\tand tab");
});

test("SH-13: relative paths are judged from the folder that the command is in at that point", () => {
  const shell = sandboxed;
  allowed({ shell }, ["cd src && ls", "cd src; cat a", "cd a && cd b && ls"]);
  neverAllowed({ shell }, [
    "cd .. && cat x",
    "cd /etc && cat passwd",
    "cd ~ && ls",
    "cd $X && ls",
    "cd - && ls",
    "cd; ls",
    "cd src && cat ../../x",
    "(cd ..); cat x",
    "pushd /etc && cat passwd",
    "git -C /etc log",
    "git -C .. status",
    "env -C /etc ls",
    "(cd /; cat etc/passwd)",
    "cd a/../.. && ls",
    "cd src; (cd ..; cat ../x)",
  ]);
  denied({ shell, mode: "acceptEdits" }, ["echo a > ../x", "cd src && echo a > /etc/x", "(cd /; echo a > ~/x)"]);
  neverAllowed({ shell, mode: "acceptEdits", allow: ["bash(cd *)", "bash(echo *)"] }, [
    "cd .git && echo a > config",
    "cd / && echo a > etc/x",
  ]);
});

test("SH-14: interpreters and build tools are full shells: never judged read-only, refused in an unattended run", () => {
  const full = [
    "python -c 'print(1)'",
    "python3 x.py",
    "node -e 1",
    "node x.js",
    "make",
    "make test",
    "npm run build",
    "npm test",
    "npx x",
    "sh script.sh",
    "bash x",
    "./x",
    "perl -e 1",
    "ruby -e 1",
    "php -r 1",
    "deno run x",
    "bun x",
    "cargo build",
    "go run x",
    "awk 1 x",
    "docker run x",
    "pip install x",
  ];
  neverAllowed({ shell: sandboxed }, full);
  neverAllowed({ shell: sandboxed, mode: "acceptEdits" }, full);
  denied({ shell: waived, mode: "dontAsk" }, full);
  denied({ shell: without, mode: "dontAsk" }, [...full, "ls"]);
});

test("without a sandbox every command needs approval, even with a rule; with it, or once the user waived it, rules count", () => {
  for (const rules of [{ allow: ["bash"] }, { mode: "bypass" as const }, { allow: ["bash(ls *)"] }]) {
    expect(decide("ls", { ...rules, shell: without })).toBe("ask");
    expect(decide("ls", { ...rules, shell: waived })).toBe("allow");
    expect(decide("ls", { ...rules, shell: sandboxed })).toBe("allow");
  }
  expect(decide("ls", { shell: without, deny: ["bash(ls)"] })).toBe("deny");
});
