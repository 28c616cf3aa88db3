import { spawn } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type Need, needs, needsTimeout } from "../../../test/needs.ts";
import { bundled } from "../../../test/support/bundled.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { probeSandbox } from "./probe-sandbox.ts";

let bwrap: Need;
beforeAll(async () => {
  bwrap = await needs("bwrap");
}, needsTimeout);

/** A folder with a program called bwrap that is this script. */
function stub(script: string): string {
  const folder = tempFolder();
  writeFileSync(join(folder, "bwrap"), `#!/bin/bash\n${script}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  return folder;
}

/** The real bwrap without some of its arguments. */
function weakened(...without: string[]): string {
  const pattern = without.join("|");
  return stub(
    `args=(); for arg; do case $arg in ${pattern}) ;; *) args+=("$arg");; esac; done; exec ${bwrap.missing === undefined ? bwrap.path : ""} "\${args[@]}"`,
  );
}

test("SBX-01: when every check passes the level is full", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  expect(await probeSandbox()).toEqual({
    level: "full",
    text: "sandbox: full (bubblewrap: files, network, processes)",
    bwrap: bwrap.path,
  });
});

test("SBX-02: without bubblewrap the level is none, and the message says what to install", async () => {
  const level = await probeSandbox([tempFolder()]);
  expect(level).toMatchObject({ level: "none", fix: "apt install bubblewrap" });
  expect(level.text).toBe(
    "sandbox: none - bubblewrap not found. Shell commands run with your full rights. Install: apt install bubblewrap | or set sandbox: required to refuse such commands.",
  );
});

test("SBX-04: a program that only pretends to isolate does not pass", async () => {
  const pretends = stub('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  const level = await probeSandbox([pretends]);
  expect([level.level, level.bwrap]).toEqual(["none", undefined]);
  expect(level.text).toContain("starts, but isolates nothing");
});

test.each([
  ["bwrap: setting up uid map: Permission denied", "AppArmor"],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"],
  [
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
    "user namespaces",
  ],
])("SBX-04: a bwrap that fails with %j is reported with that reason", async (words, help) => {
  const level = await probeSandbox([stub(`echo '${words}' >&2; exit 1`)]);
  expect(level).toMatchObject({ level: "none" });
  expect(level.text).toContain(words.replace("bwrap: ", "").slice(0, 30));
  expect(level.text).toContain(help);
});

test.each<[string, string[], string]>([
  ["the network", ["--unshare-net"], "NOT isolated: network."],
  ["its end", ["--die-with-parent"], "NOT isolated: termination with the parent process."],
  ["the environment", ["--clearenv"], "NOT isolated: the environment."],
])("SBX-04: a bwrap that does not isolate %s is partial, and this is reported", async (_what, without, said) => {
  if (bwrap.missing !== undefined) return expect(bwrap.missing).toBeTruthy();
  const level = await probeSandbox([weakened(...without)]);
  expect(level).toMatchObject({ level: "partial" });
  expect(level.text).toContain(said);
});

test("SBX-04: a bwrap that leaves the kernel's settings writable is partial", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  if (process.getuid?.() !== 0) return context.skip("only root could write to these system folders");
  const script = `args=(); while [ $# -gt 0 ]; do if [ "$1 $2" = "--ro-bind-try /proc/sys" ]; then shift 3; else args+=("$1"); shift; fi; done; exec ${bwrap.path} "\${args[@]}"`;
  expect((await probeSandbox([stub(script)])).text).toContain("NOT isolated: files.");
});

test("SBX-04: a bwrap that leaves the machine writable is partial", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const level = await probeSandbox([
    stub(
      `args=(); for arg; do [ "$arg" = --ro-bind ] && arg=--bind; args+=("$arg"); done; exec ${bwrap.path} "\${args[@]}"`,
    ),
  ]);
  expect([level.level, level.text.includes("NOT isolated: files")]).toEqual([
    process.getuid?.() === 0 ? "partial" : level.level,
    process.getuid?.() === 0,
  ]);
});

test("SBX-04: a bwrap that filters no system calls is partial, and this is reported", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const script = `args=(); while [ $# -gt 0 ]; do if [ "$1" = --seccomp ]; then shift 2; else args+=("$1"); shift; fi; done; exec ${bwrap.path} "\${args[@]}"`;
  expect((await probeSandbox([stub(script)])).text).toContain("NOT isolated: interfaces of the kernel.");
});

test("SBX-04: without a folder for temporary files nothing is checked, and commands still get the sandbox", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  vi.stubEnv("TMPDIR", "/nowhere/at/all");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await probeSandbox()).toMatchObject({
    level: "none",
    bwrap: bwrap.path,
    text: expect.stringMatching(/could not be checked: ENOENT.* Commands run in a sandbox, or fail\..*set TMPDIR/),
  });
});

/** The result of the probe in a process that is started in this way. */
async function probedBy(before: readonly string[], options: { uid?: number; gid?: number } = {}): Promise<string> {
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  const program = bundled(
    folder,
    'import { probeSandbox } from "./src/runtime/commands/probe-sandbox.ts"; console.log(process.pid < 20, (await probeSandbox()).text); process.exit(0);',
  );
  const [file, ...args] = [...before, process.execPath, program];
  const child = spawn(file, args, {
    ...options,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (text += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}

test("SBX-04: where a user may start few processes, the level is full or unknown, never partial", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  if (!existsSync("/usr/bin/prlimit")) return context.skip("needs prlimit of util-linux");
  const levels = new Map<number, string>();
  for (const most of [12, 15, 17, 19, 22, 40]) {
    // Each number of processes gets a user of its own, so that only the processes of this check count.
    const plain = { uid: 61_000 + most, gid: 61_000 };
    const text = await probedBy(["/usr/bin/prlimit", `--nproc=${most}:${most}`], plain);
    levels.set(
      most,
      /sandbox: (?:full|none - the sandbox could not be checked|\S+.*)/.exec(text)?.[0] ?? "node did not start",
    );
  }
  expect(levels.get(40)).toBe("sandbox: full");
  const honest = new Set(["sandbox: full", "sandbox: none - the sandbox could not be checked", "node did not start"]);
  expect([...levels].filter(([, text]) => !honest.has(text))).toEqual([]);
  expect([...levels.values()]).toContain("sandbox: none - the sandbox could not be checked");
}, 120_000);

test("SBX-04: the probe passes as a plain user, too", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  const plain = { uid: 65_534, gid: 65_534 };
  expect(await probedBy([], plain)).toContain("sandbox: full (bubblewrap: files, network, processes)\n");
});

test("SBX-04: the probe passes where process numbers are low, as in a container", async (context) => {
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  if (process.getuid?.() !== 0) return context.skip("needs root for a process space of its own");
  const text = await probedBy(["/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]);
  expect(text).toBe("true sandbox: full (bubblewrap: files, network, processes)\n");
});
