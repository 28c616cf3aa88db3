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
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CANARY, host, room, run, said, withSandbox } from "../../../test/support/shell-room.ts";

/** The sandbox that this machine offers. */
const full = withSandbox();

/** The text of a file in /proc; empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

test("SBX-05: nothing outside of the workspace can be written", async () => {
  const place = room();
  const commands = host(place, full());
  for (const target of ["/etc/x", "/usr/x", "/x", join(place.out, "x"), "/var/lib/x", "/sys/x"]) {
    expect([target, (await run(commands, `echo x > ${target}`)).code]).toEqual([target, 1]);
  }
  const kernel = "/proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/swappiness";
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
  const commands = host(place, full());
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
  const commands = host(place, full());
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
  const allowed = host(place, full(), { allow: () => [{ tool: "write_file", pattern: "lib/.git/**" }] });
  expect(await run(allowed, "mkdir -p lib/.git")).not.toHaveProperty("setAside");
  expect(existsSync(join(place.ws, "lib/.git"))).toBe(true);
});

test("a rule that names a protected path allows that path only", async () => {
  const place = room({ "ws/.git/config": "old" });
  const commands = host(place, full(), { allow: () => [{ tool: "write_file", pattern: ".git/**" }] });
  expect((await run(commands, "echo new > .git/config && mkdir .claude")).setAside).toMatchObject([
    { place: ".claude" },
  ]);
  expect(readFileSync(join(place.ws, ".git/config"), "utf8")).toBe("new\n");
});

test("SBX-05, SEC-02: secrets of the home folder and named paths cannot be read", async () => {
  const place = room({ "ws/secrets/key": CANARY, "ws/.env": CANARY });
  const commands = host(place, full(), {
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
  const shell = host(at, full(), { homes: [at.home, join(homes, "other"), join(homes, "shut")] });
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
  expect((await run(host(place, full()), connect)).code).not.toBe(0);
  expect(connections).toBe(0);
  expect(await said(host(place, full(), { network: () => true }), connect)).toBe("hello");
});

test("SBX-07: a command has its own processes and session, no capabilities, no new privileges, only passed variables, and no sockets of the host", async () => {
  const place = room();
  const text = await said(
    host(place, full()),
    "grep -E 'CapEff|CapPrm|CapBnd|NoNewPrivs' /proc/self/status; ls -d /proc/[0-9]* | wc -l; ls -A /run /var/run/ | grep -c sock; tty; env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | wc -l; (echo a > /dev/tty) 2>&1",
  );
  expect(text).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\nCapBnd:\s+0+\nNoNewPrivs:\s+1/);
  const [pids, sockets, tty, rest] = text.split("\n").slice(4);
  expect(Number(pids)).toBeLessThan(10);
  expect([sockets, tty]).toEqual(["0", "not a tty"]);
  expect(rest).toMatch(/^HOME LANG PATH PWD SHLVL SUBCREW_RUN TMPDIR _ 4$/);
  expect(text).toContain("/dev/tty");
});

test("SBX-07: a command has no keyring, no performance counters, no socket to the host, and a new user namespace only if a rule allows it", async () => {
  const place = room();
  const tries =
    "unshare -U true 2>/dev/null && echo users; [ -s /proc/keys ] && echo keys; grep Seccomp: /proc/self/status";
  expect(await said(host(place, full()), tries)).toMatch(/^Seccomp:\s+2$/);
  expect(await said(host(place, full(), { namespaces: true }), tries)).toMatch(/^users\nSeccomp:\s+2$/);
  // What build tools do still works: threads, pipes, child processes and Unix sockets.
  const work = `"${process.execPath}" -e 'new (require("worker_threads").Worker)("require(\\"child_process\\").execFileSync(\\"true\\"); require(\\"net\\").createServer().listen(\\"s\\").close(() => console.log(\\"works\\"))", { eval: true })'`;
  expect(await said(host(place, full()), work)).toBe("works");
});

test("SEC-02: neither the parent's environment nor its command line nor its memory can be reached", async () => {
  const place = room();
  const secret = `SECRET_${CANARY}`;
  const text = await said(
    host(place, full()),
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
  expect(await said(host(place, full(), seen), asked)).toBe(
    "../outside/engine.sock ECONNREFUSED\nown.sock ECONNREFUSED",
  );
  // With the network allowed, a command reaches Unix sockets of the project, but not those of the rest of the machine.
  expect(await said(host(place, full(), { ...seen, network: () => true }), asked)).toBe(
    `../outside/engine.sock ECONNREFUSED\nown.sock ${CANARY}`,
  );
});

test("SEC-02: the environment of a command is in no command line, which everybody on the machine can read", async () => {
  const place = room();
  const task = host(place, full(), { env: () => ({ PATH: "/usr/bin:/bin", PASSED: CANARY }) });
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
  const commands = host(place, full());
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
