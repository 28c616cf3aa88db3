import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../test/needs.ts";
import { bundled } from "../../../test/support/bundled.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { ShellCommandResult } from "../../core/task/shell-commands.ts";
import { type ShellHost, type ShellSetting, createShellCommands, safePath } from "./commands.ts";
import { InFlight } from "./in-flight.ts";
import { bearersOf } from "./process-tree.ts";
import { probeSandbox, type SandboxLevel } from "./probe-sandbox.ts";

const CANARY = "canary-71b3";
const nothing: SandboxLevel = { level: "none", text: "sandbox: none" };

type Room = { all: string; ws: string; out: string; home: string };

/** A workspace, something outside and a home with secrets. */
function room(files: Readonly<Record<string, string>> = {}): Room {
  const all = tempFolder({
    "outside/secret.txt": CANARY,
    "home/.ssh/id": CANARY,
    "home/.aws/credentials": CANARY,
    "home/.npmrc": CANARY,
    "home/notes.txt": "fine",
    "ws/a.txt": "a",
    ...files,
  });
  onTestFinished(() => void execFileSync("chmod", ["-R", "u+rwx", all]));
  return { all, ws: join(all, "ws"), out: join(all, "outside"), home: join(all, "home") };
}

function host({ ws, home }: Room, sandbox: SandboxLevel, more: Partial<ShellSetting> = {}): ShellHost {
  const made = createShellCommands({
    name: `test-${process.pid}-${Date.now()}`,
    cwd: ws,
    writable: [ws],
    wish: "auto",
    sandbox,
    network: () => false,
    inFlight: new InFlight(),
    rootAt: (root) => ({ root, place: relative(ws, root), named: relative(ws, root), homes: [] }),
    allow: () => [],
    homes: [home],
    hidden: async () => [],
    env: () => ({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LANG: "C" }),
    ...more,
  });
  onTestFinished(() => made.end());
  return made;
}

const never = new AbortController().signal;
const run = (
  { commands }: ShellHost,
  command: string,
  more: { timeoutMs?: number; signal?: AbortSignal; input?: string } = {},
): Promise<ShellCommandResult> =>
  commands.run(command, { timeoutMs: 200_000, signal: never, report: () => {}, ...more });
/** For tests whose time depends on the speed of the machine. */
const patient = { timeout: 120_000 };
/** The text of a file in /proc; empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const said = async (commands: ShellHost, command: string): Promise<string> =>
  (await run(commands, command)).text.trim();

describe("in the sandbox", () => {
  let bwrap: Need;
  let full: SandboxLevel;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
    full = await probeSandbox();
  }, needsTimeout);
  beforeEach((context) => {
    if (bwrap.missing !== undefined) context.skip(bwrap.missing);
  });

  test("a command works in the workspace and says how it ended", async () => {
    const place = room();
    const commands = host(place, full);
    expect(commands.commands.state).toEqual({ sandboxed: true, waived: false, roots: [place.ws] });
    expect(await run(commands, "cat a.txt; echo b > b.txt; pwd; exit 4")).toEqual({
      ended: "exited",
      code: 4,
      text: `a${place.ws}\n`,
      cutBytes: 0,
    });
    expect(readFileSync(join(place.ws, "b.txt"), "utf8")).toBe("b\n");
    expect(await run(commands, "cat", { input: "given" })).toMatchObject({ ended: "exited", text: "given" });
    expect(await run(commands, "kill -9 $$")).toMatchObject({ ended: "exited", code: 137 });
  });

  test("SBX-05: nothing outside can be written", async () => {
    const place = room();
    const commands = host(place, full);
    for (const target of ["/etc/x", "/usr/x", "/x", join(place.out, "x"), "/var/lib/x", "/sys/x"]) {
      expect([target, (await run(commands, `echo x > ${target}`)).code]).toEqual([target, 1]);
    }
    const kernel =
      "/proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/swappiness";
    expect(await said(commands, `for file in ${kernel}; do [ -w $file ] && echo $file; done`)).toBe("");
    expect(readdirSync(place.out)).toEqual(["secret.txt"]);
    await run(commands, `echo x > ../x; mkdir ../y; echo x > ${place.home}/x`);
    expect(readdirSync(place.all).toSorted()).toEqual(["home", "outside", "ws"]);
    expect(existsSync(join(place.home, "x"))).toBe(false);
    const own = `/tmp/x-${process.pid}`;
    expect(await said(commands, `echo x > ${own} && cat ${own}`)).toBe("x");
    expect(existsSync(own)).toBe(false);
  });

  test("SBX-05, PATH-08: protected places that exist cannot be changed, moved or removed, at any depth", async () => {
    const deep = "a/b/c/d/e/f/g";
    const place = room({
      "ws/.git/config": "old",
      "ws/.git/hooks/x": "old",
      "ws/packages/a/.vscode/tasks.json": "old",
      "ws/.npmrc": "old",
      "ws/.github/workflows/ci.yml": "old",
      [`ws/${deep}/.envrc`]: "old",
      "ws/bare/HEAD": "ref: refs/heads/main",
      "ws/bare/config": "old",
      "ws/bare/objects/x": "",
      "ws/bare/refs/x": "",
    });
    const commands = host(place, full);
    const attempts = [
      ...[
        ".git/config",
        ".git/hooks/new",
        ".git/new",
        ".npmrc",
        "packages/a/.vscode/tasks.json",
        `${deep}/.envrc`,
        "bare/config",
      ].map((path) => `echo x > ${path}`),
      "mv .git gone",
      "rm -rf .git/hooks",
      "rm .npmrc",
      "mv packages/a packages/b",
      "mv packages gone",
      "mv a gone",
      `ln ${deep}/.envrc other && echo x > other`,
      "ln -sf a.txt .npmrc",
      "cp a.txt .git/config",
      "chmod 777 .git",
    ];
    const ends = await Promise.all(
      attempts.map(async (attempt) => [attempt, (await run(commands, attempt)).code === 0] as const),
    );
    expect(ends.filter(([, worked]) => worked)).toEqual([]);
    expect(readdirSync(place.ws).toSorted()).toEqual([".git", ".github", ".npmrc", "a", "a.txt", "bare", "packages"]);
    for (const path of [".git/config", ".git/hooks/x", ".npmrc", "packages/a/.vscode/tasks.json", `${deep}/.envrc`])
      expect(readFileSync(join(place.ws, path), "utf8")).toBe("old");
    expect(await said(commands, "echo new > .github/workflows/ci.yml; cat .github/workflows/ci.yml")).toBe("new");
  });

  test("SBX-05, PATH-08: protected files that a command creates are quarantined and reported, at any depth", async () => {
    const place = room();
    const commands = host(place, full);
    const made = [
      ".qwen/agents",
      ".github/agents",
      "subagents",
      "sub/.claude/agents",
      "a/b/c/d/e/f/g/.vscode",
      "new/.git/hooks",
      "node_modules/p/.git",
      ".BASHRC",
    ];
    const { setAside } = await run(commands, made.map((path) => `mkdir -p ${path} && echo x > ${path}/x`).join("; "));
    expect(setAside?.map(({ place: name }) => name).toSorted()).toEqual([
      ".BASHRC",
      ".github/agents",
      ".qwen",
      "a/b/c/d/e/f/g/.vscode",
      "new/.git",
      "node_modules/p/.git",
      "sub/.claude",
      "subagents",
    ]);
    for (const path of made) expect([path, existsSync(join(place.ws, path))]).toEqual([path, false]);
    for (const { now } of setAside ?? []) expect([now, existsSync(join(place.ws, now))]).toEqual([now, true]);
    expect(await run(commands, "true")).not.toHaveProperty("setAside");
    const allowed = host(place, full, { allow: () => [{ tool: "write_file", pattern: "lib/.git/**" }] });
    expect(await run(allowed, "mkdir -p lib/.git")).not.toHaveProperty("setAside");
    expect(existsSync(join(place.ws, "lib/.git"))).toBe(true);
  });

  test("a rule that names a protected path allows that path only", async () => {
    const place = room({ "ws/.git/config": "old" });
    const commands = host(place, full, { allow: () => [{ tool: "write_file", pattern: ".git/**" }] });
    expect((await run(commands, "echo new > .git/config && mkdir .claude")).setAside).toMatchObject([
      { place: ".claude" },
    ]);
    expect(readFileSync(join(place.ws, ".git/config"), "utf8")).toBe("new\n");
  });

  test("SBX-05, SEC-02: secrets of the home folder and named paths cannot be read", async () => {
    const place = room({ "ws/secrets/key": CANARY, "ws/.env": CANARY });
    const commands = host(place, full, {
      hidden: async () => [join(place.ws, "secrets"), join(place.ws, ".env"), join(place.out)],
    });
    const text = await said(
      commands,
      `cat ${place.home}/.ssh/id ${place.home}/.aws/* ${place.home}/.npmrc secrets/* .env ${place.out}/*; ls -A ${place.home}/.ssh secrets; cat /etc/shadow; cat ${place.home}/notes.txt`,
    );
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain("root:");
    expect((await run(commands, `grep -r ${CANARY} ${place.home} ${place.ws} 2>/dev/null`)).text).toBe("");
  });

  test("SBX-05, SEC-02: root runs commands beside secrets in closed folders of other users", async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip("only root sees the secrets of other users");
    const at = room();
    const homes = mkdtempSync("/opt/subcrew-test-"); // a sandbox has an empty /tmp
    onTestFinished(() => rmSync(homes, { recursive: true, force: true }));
    for (const [folder, secret, mode] of [
      ["other/.config", "chromium", 0o700],
      ["shut", ".ssh", 0o750],
    ] as const) {
      mkdirSync(join(homes, folder, secret), { recursive: true });
      writeFileSync(join(homes, folder, secret, "key"), CANARY);
      chownSync(join(homes, folder), 12_345, 12_345);
      chmodSync(join(homes, folder), mode);
    }
    chmodSync(homes, 0o755);
    const shell = host(at, full, { homes: [at.home, join(homes, "other"), join(homes, "shut")] });
    expect(await said(shell, `echo works; grep -rs ${CANARY} ${homes}`)).toBe("works");
  });

  test("SBX-06: there is no network, not even to this machine, unless it is allowed", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end("hello\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const place = room();
    expect((await run(host(place, full), connect)).code).not.toBe(0);
    expect(connections).toBe(0);
    expect(await said(host(place, full, { network: () => true }), connect)).toBe("hello");
  });

  test("SBX-07: own processes, no capability, no new privileges, own session, passed environment, no sockets of the host", async () => {
    const place = room();
    const text = await said(
      host(place, full),
      "grep -E 'CapEff|CapPrm|CapBnd|NoNewPrivs' /proc/self/status; ls -d /proc/[0-9]* | wc -l; ls -A /run /var/run/ | grep -c sock; tty; env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | wc -l; (echo a > /dev/tty) 2>&1",
    );
    expect(text).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\nCapBnd:\s+0+\nNoNewPrivs:\s+1/);
    const [pids, sockets, tty, rest] = text.split("\n").slice(4);
    expect(Number(pids)).toBeLessThan(10);
    expect([sockets, tty]).toEqual(["0", "not a tty"]);
    expect(rest).toMatch(/^HOME LANG PATH PWD SHLVL SUBCREW_RUN TMPDIR _ 4$/);
    expect(text).toContain("/dev/tty");
  });

  test("SBX-07: no keyring, no counters, no new user namespace unless a rule asks for it, and no socket to the host", async () => {
    const place = room();
    const tries =
      "unshare -U true 2>/dev/null && echo users; [ -s /proc/keys ] && echo keys; grep Seccomp: /proc/self/status";
    expect(await said(host(place, full), tries)).toMatch(/^Seccomp:\s+2$/);
    expect(await said(host(place, full, { namespaces: true }), tries)).toMatch(/^users\nSeccomp:\s+2$/);
    // What build tools do still works: threads, pipes, children, sockets of files.
    const work = `"${process.execPath}" -e 'new (require("worker_threads").Worker)("require(\\"child_process\\").execFileSync(\\"true\\"); require(\\"net\\").createServer().listen(\\"s\\").close(() => console.log(\\"works\\"))", { eval: true })'`;
    expect(await said(host(place, full), work)).toBe("works");
  });

  test("SEC-02: neither the parent's environment nor its command line nor its memory can be reached", async () => {
    const place = room();
    const secret = `SECRET_${CANARY}`;
    const text = await said(
      host(place, full),
      `cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '[v]itest'; cat /proc/${process.pid}/environ; kill -0 ${process.pid}; echo ${secret.length}`,
    );
    expect(text).not.toContain("PATH=/");
    expect(text.split("\n")[0]).toBe("0");
    expect(text).toContain("No such process");
  });

  test("SBX-07, NET-11: a socket that a program of the host listens on is out of reach, wherever it lies", async () => {
    const place = room();
    const sockets = {
      "../outside/engine.sock": join(place.out, "engine.sock"),
      "own.sock": join(place.ws, "own.sock"),
    };
    for (const path of Object.values(sockets)) {
      const server = createServer((socket) => socket.end(CANARY));
      await new Promise<void>((resolve) => void server.listen(path, resolve));
      onTestFinished(() => void server.close());
    }
    const program = `for (const path of ${JSON.stringify(Object.keys(sockets))}) require("net").connect(path).on("data", (data) => console.log(path, String(data))).on("error", ({ code }) => console.log(path, code))`;
    const asked = `"${process.execPath}" -e '${program}' | sort`;
    const seen = { seen: [place.out] };
    expect(await said(host(place, full, seen), asked)).toBe(
      "../outside/engine.sock ECONNREFUSED\nown.sock ECONNREFUSED",
    );
    // With the network allowed, what the project listens on is part of it; the rest of the machine still is not.
    expect(await said(host(place, full, { ...seen, network: () => true }), asked)).toBe(
      `../outside/engine.sock ECONNREFUSED\nown.sock ${CANARY}`,
    );
  });

  test("SEC-02: what is in the environment of a command is in no command line, which everybody on the machine can read", async () => {
    const place = room();
    const task = host(place, full, { env: () => ({ PATH: "/usr/bin:/bin", PASSED: CANARY }) });
    const shell = await task.commands.start("echo $PASSED; sleep 1000");
    let news = "";
    while (!news.includes(CANARY)) {
      await sleep(10);
      news += shell.news();
    }
    const lines = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => textOf(`/proc/${name}/cmdline`));
    await task.end();
    expect(lines.some((line) => line.includes("echo $PASSED"))).toBe(true);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  });

  test("SBX-08, PATH-11: links, pipes, closed folders and deep trees that a command leaves do no harm afterwards", async () => {
    const place = room();
    const commands = host(place, full);
    expect(
      await said(
        commands,
        `ln -s ${place.out} d; ln -s ${place.out}/secret.txt l; ln -s / r; ln -s loop loop; mkfifo p; mkdir -p ${"x/".repeat(100)}; mkdir c; chmod 000 c; ln ${place.out}/secret.txt h; echo made`,
      ),
    ).toContain("made");
    expect(existsSync(join(place.ws, "h"))).toBe(false); // the outside is another mount, so a hard link is impossible
    expect(await said(commands, "echo again")).toBe("again");
    expect(readFileSync(join(place.out, "secret.txt"), "utf8")).toBe(CANARY);
  });

  test("PROC-01, PROC-02: cancelling or running out of time ends everything, and says which it was", async () => {
    const commands = host(room(), full);
    const controller = new AbortController();
    const cancelled = commands.commands.run("sleep 1000 & sleep 1001 & echo ready; wait", {
      timeoutMs: 200_000,
      signal: controller.signal,
      report: () => controller.abort({ stop: "enough" }),
    });
    expect(await cancelled).toMatchObject({ ended: "cancelled" });
    expect(await run(commands, "trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 100 })).toMatchObject({
      ended: "timeout",
    });
  });

  test("a command in the sandbox has time to handle SIGTERM", async () => {
    const commands = host(room(), full);
    const shell = await commands.commands.start(
      "trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
    );
    while (!shell.news().includes("ready")) await sleep(10);
    await shell.kill();
    expect(shell.result()).toMatchObject({ ended: "cancelled", code: 7 });
    expect(shell.result()?.text).toContain("tidied");
  });

  test("PROC-04, PROC-10: processes that a command leaves behind are killed", async () => {
    const place = room();
    const beating = "while :; do date +%s%N > next; mv next beat; sleep 0.02; done";
    const command = `(setsid sh -c '${beating}' &); (sleep 1000 &); until test -s beat; do sleep 0.02; done; echo done`;
    expect(await run(host(place, full), command)).toMatchObject({ ended: "exited", code: 0, text: "done\n" });
    const last = readFileSync(join(place.ws, "beat"), "utf8");
    await sleep(500);
    expect(readFileSync(join(place.ws, "beat"), "utf8")).toBe(last);
  });

  test.each([
    ["", (bwrap: string) => `exec ${bwrap} "$@"`],
    [
      ", also before it is bound to us",
      (bwrap: string) => `exec 3< <(grep -zvxF -e --die-with-parent <&3); exec ${bwrap} "$@"`,
    ],
  ])("PROC-03: when this process is killed, nothing keeps running in the sandbox%s", async (_, lines) => {
    const place = room();
    const bwrap = join(place.all, "bwrap");
    writeFileSync(bwrap, `#!/bin/bash\n${lines(full.bwrap!)}\n`, { mode: 0o755 });
    const program = bundled(
      place.all,
      `import { createShellCommands } from "./src/runtime/commands/commands.ts"; import { InFlight } from "./src/runtime/commands/in-flight.ts";
       const { commands } = createShellCommands({ name: "orphans-${process.pid}", cwd: ${JSON.stringify(place.ws)}, writable: [${JSON.stringify(place.ws)}], wish: "auto", sandbox: ${JSON.stringify({ ...full, bwrap })},
         network: () => false, inFlight: new InFlight(), rootAt: (root: string) => ({ root, place: "", named: "", homes: [] }), allow: () => [], homes: [], hidden: async () => [], env: () => ({ PATH: "/usr/bin:/bin" }) });
       await commands.start("trap '' TERM HUP; setsid sleep 1000 & while :; do date +%s%N > next; mv next beat; sleep 0.02; done");`,
    );
    const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
    const beat = (): string => readFileSync(join(place.ws, "beat"), "utf8");
    await expect.poll(() => existsSync(join(place.ws, "beat")), patient).toBe(true);
    runtime.kill("SIGKILL");
    const goesOn = async (): Promise<boolean> => {
      const before = beat();
      await sleep(500);
      return beat() !== before;
    };
    await expect.poll(goesOn, patient).toBe(false);
  });

  test("background commands keep running, report new output, can be stopped, and end with the task", async () => {
    const place = room();
    const task = host(place, full);
    const { commands } = task;
    const shell = await commands.start("echo one; until test -e go; do sleep 0.02; done; rm go; echo two; sleep 1000");
    await expect.poll(() => shell.news(), patient).toBe("one\n");
    expect(shell.news()).toBe("");
    writeFileSync(join(place.ws, "go"), "");
    await expect.poll(() => shell.news(), patient).toBe("two\n");
    expect([shell.id, shell.news(), shell.result()]).toEqual(["shell_1", "", undefined]);
    const short = await commands.start("echo short; exit 3");
    while (short.result() === undefined) await sleep(10);
    expect(short.result()).toMatchObject({ ended: "exited", code: 3, text: "short\n" });
    await task.end();
    expect(shell.result()).toMatchObject({ ended: "cancelled" });
    expect(readdirSync(place.ws)).toEqual(["a.txt"]);
  });

  test("SBX-10: the sandbox costs one more program for each command, and nothing is probed again", async () => {
    const place = room();
    const [counting, starts] = [join(place.all, "bwrap"), join(place.all, "starts")];
    writeFileSync(counting, `#!/bin/sh\necho >> '${starts}'\nexec ${full.bwrap} "$@"\n`, { mode: 0o755 });
    const commands = host(place, { ...full, bwrap: counting });
    for (let n = 0; n < 10; n++) expect(await run(commands, "true")).toMatchObject({ ended: "exited", code: 0 });
    expect(readFileSync(starts, "utf8")).toBe("\n".repeat(10));
  });

  test("long output is kept in a file that the command cannot reach", async () => {
    const place = room();
    const outputs = join(place.all, "outputs");
    const result = await run(host(place, full, { outputs, hidden: async () => [outputs] }), "seq 1 200000");
    expect(result.cutBytes).toBeGreaterThan(100_000);
    expect(readFileSync(result.file!, "utf8").split("\n").length).toBe(200_001);
  });

  test("a workspace with odd characters in its name works", async () => {
    const all = tempFolder({ "a b'c\"d\\e $(x)/a.txt": "odd" });
    const ws = join(all, "a b'c\"d\\e $(x)");
    expect(await said(host({ all, ws, out: all, home: all }, full), "cat a.txt; mkdir .claude")).toBe("odd");
    expect(readdirSync(ws)).toEqual([expect.stringMatching(/^\.claude\.refused-/), "a.txt"]);
  });
});

describe("without a sandbox", () => {
  test("commands run unisolated, with the passed environment, and this is reported", async () => {
    const place = room();
    const commands = host(place, nothing, { wish: "off" });
    expect(commands.commands.state).toMatchObject({ sandboxed: false, waived: true });
    expect(host(place, nothing).commands.state).toMatchObject({ sandboxed: false, waived: false });
    expect(await said(commands, "env | cut -d= -f1 | sort | tr '\\n' ' '")).toBe(
      "HOME LANG PATH PWD SHLVL SUBCREW_RUN _",
    );
  });

  test("the end of a task ends everything that it started", async () => {
    const place = room();
    const task = host(place, nothing, { name: `ends-${process.pid}`, wish: "off" });
    const shell = await task.commands.start("setsid sleep 1000 & echo $SUBCREW_RUN; sleep 1001");
    let marker = "";
    while (marker === "") {
      await sleep(10);
      marker = shell.news().trim();
    }
    // A program that is just being started has no environment for a moment.
    while ((await bearersOf(`SUBCREW_RUN=${marker}`)).length < 2) await sleep(10);
    await task.end();
    expect(await bearersOf(`SUBCREW_RUN=${marker}`)).toEqual([]);
  });

  test("a command that cannot be started is distinguished from one that fails", async () => {
    const place = room();
    const commands = host(place, nothing, { wish: "off" });
    rmSync(place.ws, { recursive: true });
    expect(await run(commands, "true")).toMatchObject({ ended: "not-started" });
  });
});

test("programs are not looked up in the workspace, nor in folders relative to it", () => {
  expect(safePath("/ws/bin:.:bin::/usr/bin:/ws:/ws-other/bin", ["/ws"])).toBe("/usr/bin:/ws-other/bin");
  expect(safePath(undefined, ["/ws"])).toBe("/usr/local/bin:/usr/bin:/bin");
  expect(safePath("/ws/bin", ["/ws"])).toBe("/usr/local/bin:/usr/bin:/bin");
});
