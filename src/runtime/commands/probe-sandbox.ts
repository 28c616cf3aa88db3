import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Writable } from "node:stream";
import { messageOf } from "../../core/schema/error.ts";
import { allForbidden, kernelProbe } from "./kernel-probe.ts";
import { type SandboxMounts, sandboxArgs } from "./sandbox-args.ts";
import { seccompFilter } from "./seccomp.ts";
import { isProgram } from "../disk/is-program.ts";

/** The user's setting for the sandbox: required, used if available, or off. */
export type SandboxWish = "required" | "auto" | "off";

/** The isolation that is available on this machine; each part of it has been tried in a sandbox. */
export type SandboxLevel = Readonly<{
  level: "full" | "partial" | "none";
  /** A description in one line, for people. */
  text: string;
  /** What the user can do to get better isolation. */
  fix?: string;
  /** The path of the program that isolates (bubblewrap), when it provides at least some isolation. */
  bwrap?: string;
}>;

/** The folders in which bubblewrap is searched: only system folders, since PATH may contain project folders. */
const SEARCHED = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/**
 * Determines which isolation works by trying to break out of it: an installed program proves nothing. Takes some ten
 * milliseconds.
 */
export async function probeSandbox(searched: readonly string[] = SEARCHED): Promise<SandboxLevel> {
  const bwrap =
    process.platform === "linux" ? searched.map((folder) => join(folder, "bwrap")).find(isProgram) : undefined;
  if (bwrap === undefined) {
    const fix = process.platform === "linux" ? "apt install bubblewrap" : "isolation works on Linux only";
    return {
      level: "none",
      text: `sandbox: none - bubblewrap not found. Shell commands run with your full rights. Install: ${fix} | or set sandbox: required to refuse such commands.`,
      fix,
    };
  }
  try {
    return await probed(bwrap);
  } catch (error) {
    const fix = `a folder for temporary files that can be written: free space in ${tmpdir()}, or set TMPDIR`;
    return unchecked(bwrap, `the sandbox could not be checked: ${messageOf(error)}`, fix);
  }
}

async function probed(bwrap: string): Promise<SandboxLevel> {
  const checks = [inFolder(bwrap, lookAround), inFolder(bwrap, diesWithParent)] as const;
  await Promise.allSettled(checks);
  const [seen, dies] = await Promise.all(checks);
  if (!isStarved(seen) && ("failure" in seen || dies !== undefined)) return verdict(bwrap, seen, dies ?? false);
  // Both checks need several processes at once. Where only few processes are allowed, or other programs use them up for
  // a moment, the checks succeed one after the other.
  const began = performance.now();
  for (const pauseMs of RETRY_PAUSES_MS) {
    if (performance.now() - began > LONGEST_MS) break;
    await sleep(pauseMs);
    const again = await inFolder(bwrap, lookAround);
    if (isStarved(again)) continue;
    const diesNow = dies ?? (await inFolder(bwrap, diesWithParent));
    if ("failure" in again || diesNow !== undefined) return verdict(bwrap, again, diesNow ?? false);
  }
  return unchecked(
    bwrap,
    "the sandbox could not be checked, because no more processes can be started, or the machine is too busy",
    "a higher limit of processes for this user (ulimit -u), or of the container",
  );
}

const RETRY_PAUSES_MS = [0, 200, 800];

/** Runs a check with a temporary folder that no other check uses. */
async function inFolder<T>(bwrap: string, check: (bwrap: string, folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "subcrew-probe-")));
  try {
    return await check(bwrap, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Looked = Seen | Readonly<{ failure: string }>;

const verdict = (bwrap: string, seen: Looked, dies: boolean): SandboxLevel =>
  "failure" in seen ? broken(seen.failure) : levelOf(bwrap, { ...seen, dies });

/**
 * True when the check could not be carried out because no more processes may be started, or because they get no
 * processor time.
 */
const isStarved = (seen: Looked): boolean => "failure" in seen && STARVED.test(seen.failure);

const TOO_SLOW = "it did not end in time";
const STARVED = new RegExp(`Resource temporarily unavailable|EAGAIN|[Cc]annot fork|${TOO_SLOW}`);

/**
 * The isolation level if nothing could be checked. Commands still get the sandbox. If no process can be started, they
 * fail: a temporary shortage of processes or disk space must not leave them with all rights.
 */
function unchecked(bwrap: string, reason: string, fix: string): SandboxLevel {
  const text = `sandbox: none - ${reason}. Commands run in a sandbox, or fail. Needed: ${fix}.`;
  return { level: "none", text, fix, bwrap };
}

type Seen = Readonly<Record<"files" | "network" | "processes" | "env" | "kernel" | "works", boolean>>;

function levelOf(
  bwrap: string,
  { files, network, processes, env, kernel, works, dies }: Seen & { dies: boolean },
): SandboxLevel {
  if (!works) return broken("a command in the sandbox cannot write to its working folder");
  const checks = {
    files,
    network,
    processes,
    "the environment": env,
    "interfaces of the kernel": kernel,
    "termination with the parent process": dies,
  };
  const active = Object.entries(checks)
    .filter(([, holds]) => holds)
    .map(([name]) => name);
  const missing = Object.entries(checks)
    .filter(([, holds]) => !holds)
    .map(([name]) => name);
  if (missing.length === 0)
    return { level: "full", text: "sandbox: full (bubblewrap: files, network, processes)", bwrap };
  if (active.length === 0) return broken("bubblewrap starts, but isolates nothing");
  const text = `sandbox: partial - ${active.join(", ")} only (bubblewrap). NOT isolated: ${missing.join(", ")}.`;
  return {
    level: "partial",
    text,
    fix: "check which of the isolation features of bubblewrap the kernel or container blocks",
    bwrap,
  };
}

/** The reason why the sandbox does not work, and the fix, from its error message. */
function broken(failure: string): SandboxLevel {
  const why =
    failure
      .replace(/^bwrap: /, "")
      .split("\n")[0]
      ?.trim() || "it exited without a message";
  const fix = /uid map|RTM_NEWADDR|Operation not permitted/.test(failure)
    ? "an AppArmor profile for /usr/bin/bwrap that allows user namespaces (Ubuntu 24.04 and later), or a container started with user namespaces"
    : "a host or container that allows unprivileged user namespaces";
  return {
    level: "none",
    text: `sandbox: none - bubblewrap does not work here (${why}). Shell commands run with your full rights. Needed: ${fix} | or set sandbox: required to refuse such commands.`,
    fix,
  };
}

/**
 * Tries forbidden actions from inside the sandbox and checks from outside of it whether they had an effect. All of them
 * are harmless.
 */
async function lookAround(bwrap: string, folder: string): Promise<Looked> {
  const { server, port, connections } = await listen();
  try {
    return await lookAs(bwrap, folder, { port, connections });
  } finally {
    server.close();
  }
}

async function lookAs(bwrap: string, folder: string, { port, connections }: Omit<Listener, "server">): Promise<Looked> {
  const inside = join(folder, "inside");
  await mkdir(inside);
  await mkdir(join(folder, "outside"));
  const [filter, asking] = [seccompFilter(process.arch), kernelProbe(process.arch)];
  if (asking) await writeFile(join(inside, "ask"), asking);
  const name = `subcrew-probe-${process.pid}-${randomBytes(8).toString("hex")}`;
  const outside = [join(folder, "outside", name), `/${name}`, `/var/tmp/${name}`];
  const args = sandboxArgs({ ...boxFor(inside), ...(filter && { filter: 3 }) }, [
    shellFile(),
    "-c",
    LOOK,
    "probe",
    inside,
    String(port),
    `/tmp/${name}`,
    ...outside,
  ]);
  const { code, text, errors } = await run(bwrap, args, { env: { SUBCREW_PROBE: "seen" }, ...(filter && { filter }) });
  const lines = text.split("\n");
  const written = outside.filter((path) => existsSync(path));
  await Promise.all(written.map((path) => rm(path, { force: true })));
  const answers = await readFile(join(inside, "answers")).catch(() => Buffer.alloc(0));
  if (code !== 0 || !lines.includes("end") || (answers.length === 0 && STARVED.test(errors)))
    return { failure: errors || (code < 0 ? TOO_SLOW : `it ended with ${code}`) };
  return {
    works: lines.includes("inside") && existsSync(join(inside, "written")),
    files: written.length === 0 && !lines.includes("kernel"),
    network: !lines.includes("connected") && connections() === 0 && Number(valueOf(lines, "links")) <= 1,
    processes: Number(valueOf(lines, "pids")) < 10 && !valueOf(lines, "list").split(" ").includes(ourselves()),
    kernel: allForbidden(process.arch, answers),
    env: valueOf(lines, "env") === "",
  };
}

const LOOK = `
folder=$1 port=$2 ask=$3; shift 3
{ echo x > "$folder/written"; } 2>/dev/null && echo inside
for path; do { echo x > "$path"; } 2>/dev/null; done
[ -w /proc/sys/kernel/core_pattern ] && echo kernel
{ : 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && echo connected
list=; pids=0
for each in /proc/[0-9]*; do
  { read -r line < "$each/stat"; } 2>/dev/null || continue
  set -- \${line##*) }
  list="$list \${each#/proc/}:\${20}"; pids=$((pids + 1))
done
echo "pids=$pids"; echo "list=$list"; echo "env=$SUBCREW_PROBE"
links=0
while read -r link rest; do case $link in *:*) links=$((links + 1));; esac; done < /proc/net/dev
echo "links=$links"
{ cat "$folder/ask" > "$ask" && chmod +x "$ask" && "$ask" > "$folder/answers"; rm -f "$ask"; }
echo end
`;

/** Identifies this process by pid and start time: inside a pid namespace another process may have the same pid. */
function ourselves(): string {
  const line = readFileSync("/proc/self/stat", "utf8");
  return `${process.pid}:${line.slice(line.lastIndexOf(")") + 2).split(" ")[19]}`;
}

const valueOf = (lines: readonly string[], name: string): string =>
  lines
    .find((line) => line.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .trim() ?? "?";

/**
 * Kills the process that started a sandbox, and waits until the processes inside release their output. The time limit
 * grows with the time that the start took, because a busy machine is slow in everything. `undefined`: the sandbox did
 * not start.
 */
function diesWithParent(bwrap: string, folder: string): Promise<boolean | undefined> {
  const inner = sandboxArgs(boxFor(folder), [shellFile(), "-c", SETTLE]);
  const began = performance.now();
  const parent = spawn("/bin/sh", ["-c", '"$@" & wait', "sh", bwrap, ...inner], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
  });
  return new Promise((resolve) => {
    let up = false;
    const settle = (died: boolean): void => {
      clearTimeout(timer);
      if (parent.pid !== undefined && !died) killGroup(parent.pid);
      parent.stdout.destroy();
      resolve(up ? died : undefined);
    };
    let timer = setTimeout(() => settle(false), LONGEST_MS);
    parent.once("error", () => settle(false));
    parent.stdout.once("data", () => {
      up = true;
      parent.kill("SIGKILL");
      clearTimeout(timer);
      timer = setTimeout(() => settle(false), Math.min(LONGEST_MS, Math.max(5_000, 20 * (performance.now() - began))));
    });
    parent.stdout.once("end", () => settle(up));
  });
}

/**
 * Shell code that waits until the sandbox's first process sleeps, and then reports that the sandbox is up. The first
 * process binds its life to its parent only after it has started the program, and on a busy machine the program can be
 * faster.
 */
const SETTLE = `
tries=0
while [ $tries -lt 20000 ]; do
  read -r line < /proc/1/stat || break
  case $line in *") S "*) break;; esac
  tries=$((tries + 1))
done
echo up; sleep 20
`;

/** Time limit of the probe; a working sandbox needs less. */
const LONGEST_MS = 15_000;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the process has exited already
  }
}

function boxFor(folder: string): SandboxMounts {
  return {
    writable: [folder],
    readOnly: [],
    pinned: [],
    hiddenFolders: [],
    hiddenFiles: [],
    kept: [],
    env: { PATH: "/usr/bin:/bin" },
    network: false,
    cwd: folder,
  };
}

type Ran = Readonly<{ code: number; text: string; errors: string }>;

/** The environment of a started program, and `filter`: the seccomp filter that bubblewrap reads from descriptor 3. */
type Given = Readonly<{ env: Record<string, string>; filter?: Uint8Array }>;

function run(file: string, args: readonly string[], { env, filter }: Given): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(filter ? ["pipe" as const] : [])],
      env,
      timeout: LONGEST_MS,
      killSignal: "SIGKILL",
    });
    const pipe = child.stdio[3] as Writable | null | undefined;
    pipe?.on("error", () => {}); // the program may end before it has read everything
    pipe?.end(filter);
    let [text, errors] = ["", ""];
    child.stdout?.on("data", (chunk: Buffer) => void (text += chunk.toString("utf8")));
    child.stderr?.on("data", (chunk: Buffer) => void (errors += chunk.toString("utf8")));
    child.once("error", (error) => resolve({ code: -1, text, errors: error.message }));
    child.once("close", (code) => resolve({ code: code ?? -1, text, errors }));
  });
}

type Listener = Readonly<{ server: Server; port: number; connections(): number }>;

/** A local server that counts connections. */
function listen(): Promise<Listener> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve({ server, port: typeof address === "object" && address ? address.port : 0, connections: () => count });
    });
  });
}

/** The path of the shell that executes commands. */
export function shellFile(): string {
  return (
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"].find(isProgram) ??
    "/bin/sh"
  );
}
