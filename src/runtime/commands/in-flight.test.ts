import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../test/needs.ts";
import { bundled } from "../../../test/support/bundled.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { ShellCommandResult } from "../../core/task/shell-commands.ts";
import { asideText } from "../files/quarantine.ts";
import { protectionOf } from "./protected-mounts.ts";
import { recordFiles, recordsIn } from "./command-record.ts";
import { type ShellHost, createShellCommands } from "./commands.ts";
import { InFlight } from "./in-flight.ts";
import { probeSandbox, type SandboxLevel } from "./probe-sandbox.ts";

let bwrap: Need;
let full: SandboxLevel;
beforeAll(async () => {
  bwrap = await needs("bwrap");
  full = await probeSandbox();
}, needsTimeout);
beforeEach((context) => {
  if (bwrap.missing !== undefined) context.skip(bwrap.missing);
});

const patient = { timeout: 120_000 };

type Room = { ws: string; state: string };
function room(files: Readonly<Record<string, string>> = {}): Room {
  const all = tempFolder({ "ws/a.txt": "a", "state/x": "", ...files });
  onTestFinished(() => void execFileSync("sh", ["-c", 'chmod -R u+rwx "$1"; rm -rf "$1"', "sh", all]));
  return { ws: join(all, "ws"), state: join(all, "state") };
}

function host({ ws, state }: Room, more: Partial<Parameters<typeof createShellCommands>[0]> = {}): ShellHost {
  const made = createShellCommands({
    name: `flight-${process.pid}`,
    cwd: ws,
    writable: [ws],
    wish: "auto",
    sandbox: full,
    network: () => false,
    inFlight: new InFlight({ state, skipped: [state] }),
    rootAt: (root) => ({ root, place: root.slice(ws.length + 1), named: root.slice(ws.length + 1), homes: [] }),
    allow: () => [],
    homes: [],
    hidden: async () => [state],
    env: () => ({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: ws, LANG: "C.UTF-8" }),
    ...more,
  });
  onTestFinished(() => made.end());
  return made;
}

const never = new AbortController().signal;
const run = ({ commands }: ShellHost, command: string, signal = never): Promise<ShellCommandResult> =>
  commands.run(command, { timeoutMs: 200_000, signal, report: () => {} });

/** Everything below a folder with one of these names, by the bytes on the disk. */
function named(folder: string, ...names: string[]): string[] {
  execFileSync("chmod", ["-R", "u+rX", folder]); // an ordinary user cannot look into a folder that a command closed
  const found = execFileSync("find", [folder, "-print0"], { encoding: "latin1", maxBuffer: 1e9 }).split("\0");
  const wanted = new Set(names.map((name) => Buffer.from(name, "utf8").toString("latin1")));
  return found.filter((path) => wanted.has(path.slice(path.lastIndexOf("/") + 1)));
}

describe("no command leaves a protected name that was not there before", () => {
  test.each<[kind: string, command: string, names: string[]]>([
    ["a link", "mkdir -p evil pkg; ln -s ../evil pkg/.git", [".git"]],
    ["a link without a target", "mkdir pkg; ln -s /nowhere pkg/.git", [".git"]],
    ["a link to itself", "ln -s .git .git", [".git"]],
    ["a link above a protected place", "mkdir -p evil/agents; ln -s evil .github", [".github"]],
    ["a hard link", "mkdir x; ln a.txt x/.npmrc", [".npmrc"]],
    ["a pipe", "mkfifo .envrc", [".envrc"]],
    ["another case", "mkdir -p x/.GIT; echo x > .NpmRc", [".GIT", ".NpmRc"]],
    ["an invisible character", "mkdir $'.g\\u200cit' $'.gi\\u00adt'", [".g\u200cit", ".gi\u00adt"]],
    ["full-width letters", "mkdir $'.\\uff47it'", [".\uff47it"]],
    [
      "dots and blanks at the end",
      "mkdir '.git.' '.git ' '.git::$INDEX_ALLOCATION' GIT~1",
      [".git.", ".git ", "GIT~1"],
    ],
    ["a folder that was prepared in another place", "mkdir -p x/y/hooks; mv x/y x/.husky; mv x z", [".husky"]],
    ["a name inside of a folder that was moved", "mkdir -p p/q/.vscode; mv p/q r", [".vscode"]],
    ["an archive", "mkdir -p t/.claude; echo x > t/.claude/x; tar cf t.tar t; rm -r t; tar xf t.tar", [".claude"]],
    ["a new repository", "git init -q sub && git init -q --separate-git-dir=elsewhere other", [".git"]],
    ["a folder that cannot be listed", "mkdir -p c/.git; chmod 0311 c", [".git"]],
    ["a folder that cannot be written", "mkdir -p c/.git; chmod 0555 c", [".git"]],
    [
      "a name in a folder whose name is not valid text",
      "mkdir -p $'x\\xff/.git'; mkdir $'y\\xff'; ln -s / $'y\\xff/.npmrc'",
      [".git", ".npmrc"],
    ],
    [
      "a name of the maximum length",
      `mkdir "$(printf '.git'; printf '\\u200b%.0s' $(seq 83))"`,
      [`.git${"\u200b".repeat(83)}`],
    ],
    [
      "a path that is deeper than the maximum length",
      "for i in $(seq 60); do n=$(printf 'd%.0s' $(seq 200)); mkdir $n; cd -P $n 2>/dev/null || cd $n; done; mkdir .git; ln -s / .npmrc",
      [".git", ".npmrc"],
    ],
    [
      "protected names inside of protected names",
      "mkdir -p .claude/x/.git/.vscode/.git; mkdir .claude/.npmrc; cd .claude && git init -q",
      [".git", ".vscode", ".npmrc", "HEAD"],
    ],
    ["a folder of a dependency", "mkdir -p node_modules/p/.vscode", [".vscode"]],
  ])("%s", async (_, command, names) => {
    const place = room();
    const { setAside } = await run(host(place), command);
    expect(setAside).toBeDefined();
    expect(setAside?.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(named(place.ws, ...names)).toEqual([]);
    expect(readdirSync(recordsIn(place.state))).toEqual([]);
  });

  test("the report about a repository that a command created says how to keep it, and that works", async () => {
    const place = room();
    const commit = "git -c user.name=a -c user.email=b commit -q --allow-empty -m first";
    const { setAside } = await run(host(place), `git init -q 'my sub' && git -C 'my sub' ${commit.slice(4)}`);
    const [aside] = setAside ?? [];
    const text = asideText(aside!);
    expect(text).toContain('"my sub/.git" is a new git repository');
    const sub = { cwd: join(place.ws, "my sub") };
    expect(String(execFileSync("sh", ["-c", "git log 2>&1 || true"], sub))).toContain("not a git repository");
    const inside = { cwd: join(place.ws, aside!.now) };
    expect(String(execFileSync("sh", ["-c", "git log 2>&1 || true"], inside))).toContain("not a git repository");
    execFileSync("sh", ["-c", /then run: (.*?)\. To let/.exec(text)![1]!], { cwd: place.ws });
    expect(String(execFileSync("git", ["log", "--format=%s"], sub))).toBe("first\n");
  });

  test("a git directory that a command creates under another name is disabled", async () => {
    const place = room();
    await run(host(place), "git init -q --bare evil; git -C evil config core.fsmonitor 'touch /tmp/run'; ls evil");
    const inside = execFileSync("sh", ["-c", "git rev-parse --git-dir 2>&1 || true"], { cwd: join(place.ws, "evil") });
    expect(String(inside)).toContain("not a git repository");
  });

  test("folders without permissions that a command left are scanned and closed again, also without root", async (context) => {
    if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
    const place = room();
    const ws = join(place.ws, "mine");
    // protected names below closed folders, and the permissions of these folders, from the outermost to the innermost
    const closed: [path: string, ...modes: number[]][] = [
      ["unlisted/closed/.git", 0o111, 0],
      ["closed/unlisted/closed/.npmrc", 0, 0o111, 0],
      ["unsearched/plain/.envrc", 0o644],
      ["readable/.husky/.vscode", 0o400, 0],
      ["node_modules/p/.vscode", 0o700, 0],
      // the path of each inner folder is too long to be opened in one step
      [`${`${"d".repeat(200)}/`.repeat(15)}.mcp.json`, ...Array.from({ length: 15 }, () => 0)],
    ];
    const foldersOf = (path: string): string[] =>
      path
        .split("/")
        .slice(0, -1)
        .map((_, at, steps) => join(ws, ...steps.slice(0, at + 1)));
    const pairs = closed.flatMap(([path, ...modes]) => modes.map((mode, at) => [foldersOf(path)[at]!, mode] as const));
    for (const [path] of closed) mkdirSync(join(ws, path), { recursive: true });
    execFileSync("chown", ["-R", "65534:65534", ws]);
    for (const folder of [join(place.ws, ".."), place.ws]) chmodSync(folder, 0o755);
    for (const [folder, mode] of pairs.toReversed()) chmodSync(folder, mode);
    const program = bundled(
      place.ws,
      `import { ProtectedScan } from "./src/runtime/files/protected-scan.ts"; import { quarantine } from "./src/runtime/commands/finish-quarantine.ts";
       import { protectionOf } from "./src/runtime/commands/protected-mounts.ts";
       const root = { root: ${JSON.stringify(ws)}, place: "", named: "", homes: [], skipped: [] };
       const found = await new ProtectedScan(root, () => true).scan();
       const { readOnly } = protectionOf(found, [root.root]);
       const watched = new Map([[root.root + "/node_modules/p/.vscode", "as it was"]]);
       const moved = quarantine({ roots: [root], existing: new Set(watched.keys()), shared: new Set(), links: [], watched, allow: () => [] }, found);
       console.log(JSON.stringify({ readOnly, moved }));`,
    );
    const child = spawn(process.execPath, [program], {
      uid: 65_534,
      gid: 65_534,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()));
    await new Promise((resolve) => child.once("close", resolve));
    const { readOnly, moved } = JSON.parse(text) as {
      readOnly: string[];
      moved: { place: string; problem?: string }[];
    };
    expect(readOnly).toEqual([]); // a path in a closed folder cannot be mounted
    expect(moved.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(moved.map((each) => each.place).toSorted()).toEqual(
      [...closed.map(([path]) => path).filter((path) => !path.startsWith("readable")), "readable/.husky"].toSorted(),
    );
    const left = pairs.filter(([folder]) => !folder.endsWith(".husky"));
    expect(left.map(([folder]) => lstatSync(folder).mode & 0o777)).toEqual(left.map(([, mode]) => mode));
    expect(named(ws, ".git", ".npmrc", ".envrc", ".husky", ".vscode", ".mcp.json")).toEqual([]);
  });
});

describe("protected files that existed before", () => {
  test("a changed link is restored, and its target in the workspace cannot be written", async () => {
    const place = room({ "ws/conf/claude/settings.json": "old" });
    symlinkSync("conf/claude", join(place.ws, ".claude"));
    const commands = host(place);
    expect((await run(commands, "echo x > conf/claude/settings.json")).code).toBe(1);
    expect((await run(commands, "mv conf other")).code).toBe(1);
    const { setAside } = await run(commands, "mkdir evil; rm .claude; ln -s evil .claude");
    expect(setAside).toMatchObject([{ place: ".claude" }]);
    expect(readlinkSync(join(place.ws, ".claude"))).toBe("conf/claude");
    await run(commands, "rm .claude");
    expect(readlinkSync(join(place.ws, ".claude"))).toBe("conf/claude");
  });

  test("can be removed inside of installed packages, and are quarantined there if they change", async () => {
    const place = room({
      "ws/node_modules/p/.vscode/tasks.json": "old",
      "ws/node_modules/q/.npmrc": "old",
      "ws/node_modules/r/.npmrc": "old",
    });
    const commands = host(place);
    const { setAside, code } = await run(
      commands,
      "rm -r node_modules/r && echo x > node_modules/p/.vscode/tasks.json && ln node_modules/q/.npmrc y && echo x > y",
    );
    expect(code).toBe(0);
    expect(setAside?.map((each) => each.place).toSorted()).toEqual(["node_modules/p/.vscode", "node_modules/q/.npmrc"]);
    expect(named(place.ws, ".vscode", ".npmrc")).toEqual([]);
  });

  test("in a home folder, settings of unknown programs cannot be changed or created; caches and histories can", async () => {
    const place = room({ "ws/.foo/settings": "old", "ws/.cache/x": "old" });
    const home = host(place, { rootAt: (root) => ({ root, place: "", named: "", homes: [{ cut: "", add: "" }] }) });
    const { setAside } = await run(
      home,
      "echo new > .foo/settings; echo new > .cache/x; touch .bash_history; mkdir -p .bar .local/share/gedit/plugins",
    );
    expect(setAside?.map((each) => each.place).toSorted()).toEqual([".bar", ".local/share/gedit"]);
    expect([".foo/settings", ".cache/x"].map((name) => readFileSync(join(place.ws, name), "utf8"))).toEqual([
      "old",
      "new\n",
    ]);
    expect(existsSync(join(place.ws, ".bash_history"))).toBe(true);
    // A quarantined entry is not reported again, and a folder of another program that is only compared is never
    // renamed.
    expect((await run(home, "true")).setAside).toBeUndefined();
    const things = [{ path: "/h/.foo", kind: "folder", unlisted: true }] as const;
    const many = Array.from({ length: 64 }, (_, n) => ({ path: `/h/${n}/.git`, kind: "folder" as const }));
    expect(protectionOf([...things, ...many], ["/h"]).watched.size).toBe(0);
  });

  test("do not slow down a command when there are many of them, and are quarantined when they change", async () => {
    const files = Array.from({ length: 300 }, (_, at) => [`ws/packages/p${at}/.npmrc`, "old"] as const);
    const place = room({ ...Object.fromEntries(files), "ws/.npmrc": "old" });
    const { setAside } = await run(host(place), "for f in packages/p*/.npmrc .npmrc; do echo x > $f; done 2>/dev/null");
    expect(readFileSync(join(place.ws, ".npmrc"), "utf8")).toBe("old");
    const left = named(place.ws, ".npmrc").map((path) => readFileSync(path, "utf8"));
    expect(new Set(left)).toEqual(new Set(["old"]));
    expect(left.length + (setAside?.length ?? 0)).toBe(301);
  });

  test("cannot be written in a protected folder, even if the task works there or declared to write there", async () => {
    const place = room({ "ws/.git/hooks/x": "old" });
    const hooks = join(place.ws, ".git/hooks");
    for (const more of [{ cwd: hooks, writable: [hooks] }, { leased: [hooks] }])
      expect((await run(host(place, more), `echo x > ${hooks}/pre-commit`)).code).toBe(1);
    expect(readdirSync(hooks)).toEqual(["x"]);
  });
});

describe("nothing that the sandbox creates is ever visible in the workspace", () => {
  test("not while a command runs, and not after it was interrupted", async () => {
    const place = room();
    const commands = host(place);
    const controller = new AbortController();
    const going = run(commands, "touch begun; sleep 1000", controller.signal);
    await expect.poll(() => existsSync(join(place.ws, "begun")), patient).toBe(true);
    expect(readdirSync(place.ws).toSorted()).toEqual(["a.txt", "begun"]);
    controller.abort();
    await going;
    expect(readdirSync(place.ws).toSorted()).toEqual(["a.txt", "begun"]);
  });
});

describe("a command that is interrupted", () => {
  test("its new protected files are quarantined when it is cancelled", async () => {
    const place = room();
    const controller = new AbortController();
    const going = run(host(place), "mkdir -p x/.git; touch made; sleep 1000", controller.signal);
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    controller.abort();
    expect((await going).setAside).toMatchObject([{ place: "x/.git" }]);
    expect(named(place.ws, ".git")).toEqual([]);
  });

  test("protected files of a background command are quarantined while it runs", async () => {
    const place = room();
    const shell = await host(place).commands.start("mkdir -p x/y/z/.git; touch made; sleep 1000");
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    await expect.poll(() => named(place.ws, ".git"), patient).toEqual([]);
    expect(shell.result()).toBeUndefined();
  });

  test("a file that a person creates while a command sleeps is kept, unless the command changes it", async () => {
    const place = room();
    const shell = await host(place).commands.start(
      "mkfifo pipe; touch made; read -r which < pipe; echo '# x' >> $which/config; touch changed; sleep 1000",
    );
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    // New files count as files of the person only after two scans in which the command slept.
    const init = (name: string): string => {
      execFileSync("git", ["init", "-q", name], { cwd: place.ws });
      return join(place.ws, name, ".git");
    };
    const record = (): string =>
      readFileSync(join(recordsIn(place.state), readdirSync(recordsIn(place.state))[0]!), "utf8");
    const kept: string[] = [];
    for (let at = 0; kept.length < 2 && at < 20; at++) {
      const made = init(`repository${at}`);
      await expect.poll(() => !existsSync(made) || record().includes(`"${made}"`), patient).toBe(true);
      if (existsSync(made)) kept.push(made);
    }
    const [mine, changed] = kept as [string, string];
    const git = ["-c", "user.name=a", "-c", "user.email=b"];
    execFileSync("git", [...git, "commit", "-q", "--allow-empty", "-m", "x"], { cwd: join(mine, "..") });
    writeFileSync(join(place.ws, "pipe"), `${changed}\n`);
    await expect.poll(() => existsSync(join(place.ws, "changed")), patient).toBe(true);
    await shell.kill();
    expect([existsSync(join(mine, "HEAD")), existsSync(changed)]).toEqual([true, false]);
  });

  test("files of one command do not count as existing before a parallel command", async () => {
    const place = room();
    const [one, other] = [host(place), host(place)];
    const shell = await one.commands.start("mkdir -p x/.git; touch made; sleep 1000");
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    await run(other, "true");
    await shell.kill();
    expect(named(place.ws, ".git")).toEqual([]);
  });

  test("files that a tool was allowed to write meanwhile are kept", async () => {
    const place = room();
    const inFlight = new InFlight({ state: place.state });
    const shell = await host(place, { inFlight }).commands.start("touch made; sleep 1000");
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    await inFlight.permit(join(place.ws, ".vscode/settings.json"));
    mkdirSync(join(place.ws, ".vscode"));
    writeFileSync(join(place.ws, ".vscode/settings.json"), "{}");
    await shell.kill();
    expect(readdirSync(place.ws).toSorted()).toEqual([".vscode", "a.txt", "made"]);
  });

  test("what a command puts beside a file that a tool was allowed to write is quarantined", async () => {
    const place = room();
    const inFlight = new InFlight({ state: place.state });
    const put = "mkdir -p .git/hooks .git/info/x; touch .git/hooks/pre-commit .git/config .git/info/attributes";
    const shell = await host(place, { inFlight }).commands.start(
      `touch made; until test -e .git/info/exclude; do sleep 0.1; done; ${put}; touch put; sleep 1000`,
    );
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    await inFlight.permit(join(place.ws, ".git/info/exclude"));
    mkdirSync(join(place.ws, ".git/info"), { recursive: true });
    writeFileSync(join(place.ws, ".git/info/exclude"), "x");
    await expect.poll(() => existsSync(join(place.ws, "put")), patient).toBe(true);
    await shell.kill();
    expect(named(place.ws, "hooks", "config", "attributes", "x")).toEqual([]);
    expect(readFileSync(join(place.ws, ".git/info/exclude"), "utf8")).toBe("x");
  });

  test("a link in place of the folder of a file that a tool was allowed to write is quarantined", async () => {
    const place = room();
    const inFlight = new InFlight({ state: place.state });
    const replace = "mv .vscode own; touch own/tasks.json; ln -s own .vscode";
    const shell = await host(place, { inFlight }).commands.start(
      `touch made; until test -e .vscode/settings.json; do sleep 0.1; done; ${replace}; touch put; sleep 1000`,
    );
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    await inFlight.permit(join(place.ws, ".vscode/settings.json"));
    mkdirSync(join(place.ws, ".vscode"));
    writeFileSync(join(place.ws, ".vscode/settings.json"), "x");
    await expect.poll(() => existsSync(join(place.ws, "put")), patient).toBe(true);
    await shell.kill();
    expect(named(place.ws, ".vscode")).toEqual([]);
  });

  /**
   * A process that runs this command in the background, and is killed by SIGKILL once the command has created a file.
   */
  async function killedOver(place: Room, command: string, finisher?: string): Promise<void> {
    const program = bundled(
      join(place.ws, ".."),
      `import { createShellCommands } from "./src/runtime/commands/commands.ts"; import { InFlight } from "./src/runtime/commands/in-flight.ts";
       const ws = ${JSON.stringify(place.ws)}, state = ${JSON.stringify(place.state)};
       const { commands } = createShellCommands({ name: "killed-${process.pid}", cwd: ws, writable: [ws], wish: "auto", sandbox: ${JSON.stringify(full)}, network: () => false,
         inFlight: new InFlight({ state }), rootAt: (root: string) => ({ root, place: "", named: "", homes: [] }), allow: () => [], homes: [], hidden: async () => [], env: () => ({ PATH: "/usr/bin:/bin" })${finisher === undefined ? "" : `, finisher: ${JSON.stringify(finisher)}`} });
       await commands.start(${JSON.stringify(command)});`,
    );
    const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
    await expect.poll(() => existsSync(join(place.ws, "made")), patient).toBe(true);
    runtime.kill("SIGKILL");
    await new Promise((resolve) => runtime.once("close", resolve));
  }

  test("the next command finishes the quarantine that a killed process left unfinished", async () => {
    const place = room();
    await killedOver(place, "mkdir -p x/.git; ln -s / .npmrc; touch made; sleep 1000");
    expect(recordFiles(recordsIn(place.state)).length).toBe(1);
    const { setAside } = await run(host(place), "true");
    expect(setAside?.map((each) => each.place).toSorted()).toEqual([".npmrc", "x/.git"]);
    expect(named(place.ws, ".git", ".npmrc")).toEqual([]);
    expect(readdirSync(recordsIn(place.state))).toEqual([]);
  });

  test("the watchdog finishes the quarantine at once, and the next check reports it", async () => {
    const place = room();
    const tools = tempFolder();
    const finisher = bundled(tools, 'await import("./src/quarantine-child.ts");');
    await killedOver(
      place,
      "trap '' TERM; mkdir -p x/.git; touch made; while :; do mkdir -p y/.git; sleep 0.05; done",
      finisher,
    );
    await expect.poll(() => named(place.ws, ".git"), patient).toEqual([]);
    // the record itself, and not the draft that replaces it, whose name ends differently
    const record = readdirSync(recordsIn(place.state)).find((name) => name.endsWith(".json")) ?? "";
    const file = join(recordsIn(place.state), record);
    await expect.poll(() => readFileSync(file, "utf8").includes('"done"'), patient).toBe(true);
    const told = await new InFlight({ state: place.state }).recover();
    expect(told.map((each) => each.place).toSorted()).toEqual(expect.arrayContaining(["x/.git"]));
    expect(readdirSync(recordsIn(place.state))).toEqual([]);
    expect(named(place.ws, ".git")).toEqual([]);
  });

  test("after a reboot, files that a person created since then are kept", async () => {
    const place = room();
    await killedOver(place, "mkdir -p x/.git; touch made; sleep 1000");
    const file = join(recordsIn(place.state), readdirSync(recordsIn(place.state))[0]!);
    const record = JSON.parse(readFileSync(file, "utf8")) as object;
    // With another boot id, every file is newer than the boot, because the machine started long before this test.
    writeFileSync(file, JSON.stringify({ ...record, boot: "another" }));
    expect(await new InFlight({ state: place.state }).recover()).toEqual([]);
    expect(named(place.ws, ".git").length).toBe(1);
  });
});

test("commands that are told to end together are checked together", async () => {
  const { ws, state } = room();
  const inFlight = new InFlight({ state, skipped: [state] });
  const scope = { run: "r", marker: "M=1", allow: () => [], roots: [{ root: ws, place: "", named: "", homes: [] }] };
  const [one, other, third] = [await inFlight.begin(scope), await inFlight.begin(scope), await inFlight.begin(scope)];
  for (const each of [one, other]) each.ending();
  let checked = false;
  const first = one.end().finally(() => {
    checked = true;
  });
  await third.end(); // the third command ended by itself, so it does not wait for the check
  expect(checked).toBe(false);
  writeFileSync(join(ws, ".npmrc"), ""); // as if written by the command that still runs
  const aside = (await Promise.all([first, other.end()])).flat();
  expect([aside.map(({ place }) => place), readdirSync(recordsIn(state))]).toEqual([[".npmrc"], []]);
});

test("a command whose record cannot be written is not started, and the error names the state folder", async () => {
  const at = room({ "state/commands-in-flight": "a file in place of the folder" });
  await expect(run(host(at), "touch made")).rejects.toMatchObject({
    code: "NOT_STARTED",
    message: expect.stringMatching(
      /^the command was not started, because its record cannot be written in the state folder \(.*\/state\/commands-in-flight.*\)$/,
    ),
  });
  expect(readdirSync(at.ws)).toEqual(["a.txt"]);
});
