import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { judge } from "../../src/core/policy/judge.ts";
import { createPolicy } from "../../src/core/policy/policy.ts";
import type { Tries } from "./mutate.ts";

const PROGRAMS = [
  ...[
    "ls",
    "cat",
    "tac",
    "nl",
    "rev",
    "head",
    "tail",
    "wc",
    "cut",
    "tr",
    "sort",
    "uniq",
    "comm",
    "diff",
    "cmp",
    "stat",
    "file",
  ],
  ...[
    "du",
    "df",
    "pwd",
    "echo",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "whoami",
    "id",
    "uname",
    "true",
    "seq",
    "which",
  ],
  ...[
    "type",
    "printenv",
    "env",
    "md5sum",
    "sha256sum",
    "cksum",
    "grep",
    "egrep",
    "find",
    "sed",
    "date",
    "printf",
    "command",
    "cd",
  ],
  ...[
    "git log",
    "git status",
    "git diff",
    "git show",
    "git branch",
    "git tag",
    "git ls-files",
    "git rev-parse",
    "git blame",
  ],
  ...[
    "rm",
    "touch",
    "mv",
    "cp",
    "mkdir",
    "tee",
    "dd",
    "truncate",
    "ln",
    "chmod",
    "bash -c",
    "sh -c",
    "eval",
    "exec",
    "xargs",
    "awk",
  ],
  ...[
    "python3 -c",
    "perl -e",
    "node -e",
    "curl",
    "nc",
    "timeout 1",
    "nice",
    "env X=1",
    "git config",
    "git commit",
    "nohup",
    "tar",
  ],
];
const WORDS = [
  ...[
    "f1",
    "f2",
    "sub",
    "sub/f3",
    ".",
    "..",
    "/etc/passwd",
    "/ws/f1",
    "*",
    "f*",
    "-n",
    "-l",
    "-c",
    "-o",
    "-o new",
    "-i",
    "-e",
    "-r",
    "-w",
  ],
  ...[
    "--output=new",
    "--in-place",
    "-exec rm {} ;",
    "-delete",
    "-fprintf new x",
    "-fls new",
    "-ok",
    "-newer f1",
    "-name 'f*'",
    "1p",
  ],
  ...[
    "'1w new'",
    "'e touch new'",
    "s/x/y/w",
    "-s",
    "--set=now",
    "--files0-from=f1",
    "--ext-diff",
    "--textconv",
    "-p",
    "-O new",
    "-u",
  ],
  ...[
    "$HOME",
    "$(touch new)",
    "`touch new`",
    "${X:=y}",
    "~",
    "$((1))",
    "'a b'",
    '"a $X"',
    "\\\n",
    "{a,b}",
    "new",
    "--",
    "-",
    "+%s",
  ],
  ...["-D", "-T .", "-S 1", "--compress-program=touch", "--to-command=x", "-z", "-v", "-a", "link", "-f", "1", "a"],
];
const REDIRECTS = [
  "> new",
  ">> f1",
  "< f1",
  "2>&1",
  "2>/dev/null",
  "> /dev/null",
  "&> new",
  ">| f1",
  "<<< x",
  "< /dev/tcp/127.0.0.1/1",
  "3<> f1",
  ">&2",
];
const JOINS = [";", "&&", "||", "|", "&", "\n", "|&"];

const weighted = (values: readonly string[], most: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...values), { maxLength: most }).map((parts) => parts.join(" "));

const command = fc
  .tuple(
    weighted(["X=1", "LANG=C", "GIT_PAGER=touch", "PATH=."], 1),
    fc.constantFrom(...PROGRAMS),
    weighted(WORDS, 4),
    weighted(REDIRECTS, 1),
  )
  .map((parts) => parts.filter((part) => part !== "").join(" "));

/** Command lines with every operator and expansion; most of them are not read-only. */
const line = fc
  .tuple(
    command,
    fc.array(fc.tuple(fc.constantFrom(...JOINS), command), { maxLength: 2 }),
    fc.constantFrom("%", "%", "%", "( % )", "! %", "{ %; }"),
  )
  .map(([first, more, around]) =>
    around.replace("%", () => first + more.map(([join, next]) => ` ${join} ${next}`).join("")),
  );

/** Words that make some program write, run or connect to something. */
const WRITING = /new|touch|rm|-[ioOewsTSDpf]\b|--(?:in-place|set|ext|text|comp|to-)|-delete|-ok|-exec|\$|`|w$/;
/** Some programs write to the file that is named last. */
const RISKY = ["f2", ...WORDS.filter((word) => WRITING.test(word))];

/** Every program with every such word, because random combinations would hardly ever find a forgotten one. */
export const pairs = (): string[] => PROGRAMS.flatMap((program) => RISKY.map((word) => `${program} ${word} f1`));

const policy = createPolicy("default");
const shell = { sandboxed: true, waived: false, roots: ["/ws"] };

/** True when a command runs without approval because it is read-only. */
export function isReadOnly(text: string): boolean {
  const ask = {
    tool: "bash",
    does: "exec",
    effect: "write",
    subjects: [{ kind: "command", command: text }],
    shell,
  } as const;
  return judge(policy, ask).decision === "allow";
}

/** The commands, of all that are tried, that are judged read-only. */
export function readOnlyCommands({ numRuns, seed }: Tries): string[] {
  const drawn = fc.sample(line, seed === undefined ? { numRuns } : { numRuns, seed });
  return [...new Set(drawn)].filter(isReadOnly);
}

export type Watched = Readonly<{ changed: boolean; started: readonly string[]; sockets: readonly string[] }>;

/** Without `strace`, only changes of files are seen. */
export type WatchPlace = Readonly<{ folder: string; bwrap: string; strace?: string; seconds?: number }>;

/** Runs commands where they can do no harm, and records what they change, start and connect to. */
export function watch(commands: readonly string[], at: WatchPlace): Watched {
  const workspace = join(at.folder, "ws");
  const log = join(at.folder, "log");
  plant(workspace);
  const before = pictureOf(workspace);
  const run = `while IFS= read -r -d "" c; do (cd /ws && timeout ${at.seconds ?? 5} /usr/bin/bash -c "$c") </dev/null >/dev/null 2>&1; done`;
  const args = [
    ...[
      "--ro-bind",
      "/usr",
      "/usr",
      "--symlink",
      "usr/lib",
      "/lib",
      "--symlink",
      "usr/lib64",
      "/lib64",
      "--symlink",
      "usr/bin",
      "/bin",
    ],
    ...[
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--bind",
      workspace,
      "/ws",
      "--unshare-all",
      "--clearenv",
      "--setenv",
      "PATH",
      "/usr/bin",
    ],
    ...["--setenv", "HOME", "/ws", "--setenv", "GIT_OPTIONAL_LOCKS", "0", "/usr/bin/bash", "-c", run],
  ];
  const traced = ["-f", "-qq", "-s", "200", "-e", "trace=execve,socket", "-e", "signal=none", "-o", log, at.bwrap];
  const [file, prefix] = at.strace === undefined ? [at.bwrap, []] : [at.strace, traced];
  const { status, stderr } = spawnSync(file, [...prefix, ...args], {
    input: commands.map((one) => `${one}\0`).join(""),
  });
  if (status === null || /^bwrap: /m.test(String(stderr))) throw new Error(`status ${status}: ${stderr.toString()}`);
  const lines = at.strace === undefined ? [] : readFileSync(log, "utf8").split("\n");
  const started = lines.flatMap((text) => /execve\("([^"]+)".*= 0$/.exec(text)?.[1] ?? []);
  return {
    changed: pictureOf(workspace) !== before,
    started: [...new Set(started.map((path) => path.replace(/^.*\//, "")))],
    sockets: lines.filter((text) => /socket\(AF_INET/.test(text)),
  };
}

function plant(workspace: string): void {
  mkdirSync(join(workspace, "sub"), { recursive: true });
  writeFileSync(join(workspace, "f1"), "one\ntwo\n");
  writeFileSync(join(workspace, "f2"), "two\nthree\n");
  writeFileSync(join(workspace, "sub", "f3"), "x\n");
  symlinkSync("f1", join(workspace, "link"));
  // Recent versions of git maintain the repository in the background, which changes files after the commit has ended.
  const who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "maintenance.auto=false"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-qm", "first"],
  ])
    execFileSync("git", args, { cwd: workspace, stdio: "pipe" }); // a command that fails is reported with git's message
}

/** Names and contents of all files in a folder. */
function pictureOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const file = join(folder, name);
    const stats = lstatSync(file);
    hash.update(`${name} ${stats.mode} `);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(file));
    else if (stats.isFile()) hash.update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** The programs that a read-only line may start: those that its words name, and those that run it. */
const KNOWN = new Set([
  ...PROGRAMS.slice(0, PROGRAMS.indexOf("rm")).map((text) => text.split(" ")[0]!),
  "bwrap",
  "bash",
  "timeout",
  "git",
]);

/**
 * FUZZ-04: no command that is judged read-only changes a file, opens a socket or starts a program that is not allowed.
 */
export function readersOnlyRead(commands: readonly string[], at: Parameters<typeof watch>[1]): void {
  const { changed, started, sockets } = watch(commands, at);
  const told = commands.length > 40 ? `${commands.length} commands` : commands.join("\n");
  expect(changed, `one of these changed a file:\n${told}`).toBe(false);
  expect(sockets, told).toEqual([]);
  expect(
    started.filter((name) => !KNOWN.has(name)),
    told,
  ).toEqual([]);
}

/** Where commands are tried: each in a new folder, for a number of seconds (1 if none is given). */
export type TrialPlace = Readonly<{ folder: () => string; bwrap: string; seconds?: number }>;

/** The first of these commands that changes a file when it runs; `undefined` if no command does. */
export function firstThatChanges(
  commands: readonly string[],
  { folder, bwrap, seconds = 1 }: TrialPlace,
): string | undefined {
  const changes = (some: readonly string[]): boolean => watch(some, { folder: folder(), bwrap, seconds }).changed;
  let some = commands;
  if (!changes(some)) return undefined;
  while (some.length > 1) {
    const half = some.slice(0, some.length >> 1);
    some = changes(half) ? half : some.slice(some.length >> 1);
  }
  return some[0];
}
