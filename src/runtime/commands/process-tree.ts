import { execFile } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** The pids of processes that have this `NAME=value` in the environment they were started with. */
export async function bearersOf(marker: string): Promise<readonly number[]> {
  return process.platform === "linux" ? bearersInProc(marker) : bearersInList(marker);
}

/**
 * A scan of the processes, whose result several commands share. It is module state, because all commands of the process
 * share it.
 */
type Look = Readonly<{ markers: Set<string>; found: Promise<ReadonlyMap<string, readonly number[]>> }>;
let nextLook: Look | undefined;
let lastLookMs = 0;

/**
 * Scans all environments once for concurrent callers. When each of thirty commands that end together scanned by itself,
 * the machine was busy for seconds. The slower the machine, the longer callers may join a scan.
 */
async function bearersInProc(marker: string): Promise<readonly number[]> {
  nextLook ??= lookSoon();
  nextLook.markers.add(marker);
  return (await nextLook.found).get(marker) ?? [];
}

function lookSoon(): Look {
  const markers = new Set<string>();
  const found = new Promise<ReadonlyMap<string, readonly number[]>>((resolve) => {
    setTimeout(
      () => {
        nextLook = undefined;
        const began = performance.now();
        resolve(bearersOfAll([...markers]));
        lastLookMs = performance.now() - began;
      },
      Math.min(4 * lastLookMs, LONGEST_JOIN_MS),
    );
  });
  return { markers, found };
}

const LONGEST_JOIN_MS = 300;

/**
 * Finds the processes with each of these markers. It reads synchronously into one buffer: with a promise for each
 * process, garbage collection took longer than reading.
 */
function bearersOfAll(markers: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  const wanted = markers.map((marker) => [marker, Buffer.from(marker)] as const);
  const buffer = Buffer.allocUnsafe(ENVIRONMENT_BYTES);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    for (const marker of borneBy(name, wanted, buffer)) {
      const others = found.get(marker);
      if (others) others.push(Number(name));
      else found.set(marker, [Number(name)]);
    }
  }
  return found;
}

/**
 * The size of the buffer for the environment of a process. Most environments are smaller; a longer environment is read
 * in overlapping pieces.
 */
const ENVIRONMENT_BYTES = 1 << 17;
/** The maximum length of a marker; pieces overlap by this much. */
const OVERLAP_BYTES = 1 << 10;

function borneBy(pid: string, wanted: readonly (readonly [string, Buffer])[], buffer: Buffer): Set<string> {
  const borne = new Set<string>();
  let descriptor: number | undefined;
  try {
    descriptor = openSync(`/proc/${pid}/environ`, constants.O_RDONLY);
    for (let position = 0; ; position += ENVIRONMENT_BYTES - OVERLAP_BYTES) {
      const length = readSync(descriptor, buffer, 0, ENVIRONMENT_BYTES, position);
      const environment = buffer.subarray(0, length);
      for (const [marker, bytes] of wanted) if (holds(environment, bytes)) borne.add(marker);
      if (length < ENVIRONMENT_BYTES) break;
    }
  } catch {
    // the process has ended meanwhile, or belongs to another user
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return borne;
}

/** Whether an environment contains exactly this variable, delimited by NUL bytes or its ends. */
function holds(environment: Buffer, wanted: Buffer): boolean {
  for (let at = environment.indexOf(wanted); at >= 0; at = environment.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if ((at === 0 || environment[at - 1] === 0) && (end === environment.length || environment[end] === 0)) return true;
  }
  return false;
}

function bearersInList(marker: string): Promise<number[]> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-axEww", "-o", "pid=,command="], { maxBuffer: 50_000_000, env: {} }, (error, text) => {
      const lines = error ? [] : text.split("\n").filter((line) => line.split(" ").includes(marker));
      resolve(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 1));
    });
  });
}

/**
 * All descendants of a process, found from parent to child, so that the cost does not depend on the other processes of
 * the machine.
 * `undefined`: this system does not list children.
 */
export function descendantsOf(pid: number): readonly number[] | undefined {
  const found: number[] = [];
  const open = [pid];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const children = childrenOf(parent);
    if (children === undefined && parent === pid) return undefined;
    found.push(...(children ?? []));
    open.push(...(children ?? []));
  }
  return found;
}

/** The children that the threads of a process have started. */
function childrenOf(pid: number): number[] | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"));
    return lists.flatMap((list) =>
      list
        .split(" ")
        .filter((word) => word !== "")
        .map(Number),
    );
  } catch {
    return undefined; // the process has ended meanwhile, or the kernel was built without these files
  }
}

/** A process and its start time: the pid alone may belong to another process later. */
export type FirstProcess = Readonly<{ pid: number; started: string }>;

/** The first process in a sandbox; `undefined`: there is none, or this system does not list children. */
export function firstBelow(sandbox: number): FirstProcess | undefined {
  const pid = childrenOf(sandbox)?.[0];
  return pid === undefined ? undefined : asFirst(pid);
}

/** The first process of a sandbox, from its known pid; `undefined`: it has ended. */
export function asFirst(pid: number): FirstProcess | undefined {
  const found = statOf(pid);
  return found && { pid, started: found.started };
}

/** Kills the first process of a sandbox, and with it the process group that it leads. */
export function killFirst({ pid, started }: FirstProcess): void {
  if (statOf(pid)?.started === started && !signalGroup(pid, "SIGKILL")) signalAll([pid], "SIGKILL");
}

/**
 * Kills the first process of a sandbox, which ends all other processes in it, and waits until it has ended. Much
 * cheaper than {@link endBearers}.
 */
export async function endFirst({ pid, started }: FirstProcess): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const now = statOf(pid);
    if (now === undefined || now.started !== started || /[ZXx]/.test(now.state)) return;
    signalAll([pid], "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 * (round + 1), 200)));
  }
}

/**
 * The buffer for the state of a process. The state is always shorter than the buffer. `readFileSync` needs twice the
 * time.
 */
const statBuffer = Buffer.allocUnsafe(4_096);

function statOf(pid: number): { state: string; started: string } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(`/proc/${pid}/stat`, constants.O_RDONLY);
    const text = statBuffer.toString("latin1", 0, readSync(descriptor, statBuffer));
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", started: fields[19] ?? "" };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * A text that stays the same as long as no thread of a process and of its descendants runs; `undefined`: one of them is
 * running, or this system does not provide the information. The text contains the kernel's counts of how often each
 * thread left the processor.
 */
export function restOf(pid: number): string | undefined {
  const below = descendantsOf(pid);
  if (below === undefined) return undefined;
  try {
    const threads = [pid, ...below].flatMap((each) =>
      readdirSync(`/proc/${each}/task`).map((thread) => ({ each, thread })),
    );
    const lines = threads.map(({ each, thread }) => {
      const status = readFileSync(`/proc/${each}/task/${thread}/status`, "latin1");
      const counts =
        /^State:\s+[STtZ] [^]*^voluntary_ctxt_switches:\s+(\d+)\s+nonvoluntary_ctxt_switches:\s+(\d+)/m.exec(status);
      if (!counts) throw new Error("it is running");
      return `${thread}:${counts[1]}:${counts[2]}`;
    });
    return lines.join(" ");
  } catch {
    return undefined;
  }
}

/** Sends a signal to a process group. False: there is none, or this user may not signal it. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  return Number.isInteger(leader) && leader > 1 && sent(-leader, signal);
}

/** Sends a signal to processes; processes that have already ended are ignored. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) if (Number.isInteger(pid) && pid > 1 && pid !== process.pid) sent(pid, signal);
}

function sent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Kills all processes with a marker. Repeats until no such process is found: a process that is just being started by
 * another process is found the next time, and on a busy machine a process takes its time to die. A process that does
 * not die is given up after some seconds.
 */
export async function endBearers(marker: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const left = await bearersOf(marker);
    if (left.length === 0) return;
    signalAll(left, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 * (round + 1), 200)));
  }
}
