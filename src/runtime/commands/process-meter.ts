import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";

/** Current memory and total CPU time of processes. */
export type ResourceUse = Readonly<{ memoryMB: number; cpuSeconds: number }>;

/** The processes to measure: the descendants that are marked (`NAME=value` in the environment) and their children. */
export type ProcessMeter = Readonly<{
  marker: string;
  /** The root process of the tree, used where environments cannot be read. */
  root?: number;
}>;

/**
 * Measures a process tree. A process that was seen once is still measured when its parent has ended, and the time of
 * ended processes is kept.
 */
export function createMeter({ marker, root }: ProcessMeter): () => Promise<ResourceUse> {
  let known = new Map<string, Process>();
  let ended = 0;
  return async () => {
    const all = await processes();
    const members = new Map<string, Process>();
    const below = new Map<number, Process[]>();
    for (const one of all) below.set(one.ppid, [...(below.get(one.ppid) ?? []), one]);
    const take = async (one: Process, inside: boolean): Promise<void> => {
      const belongs = inside || one.pid === root || known.has(one.key) || (await bears(one.pid, marker));
      if (belongs) members.set(one.key, one);
      for (const child of below.get(one.pid) ?? []) await take(child, belongs);
    };
    for (const child of below.get(process.pid) ?? []) await take(child, false);
    for (const one of all) if (known.has(one.key) && !members.has(one.key)) await take(one, true);
    // The CPU time of a reaped process is added to its parent, which is possibly not measured.
    const pids = new Set([...known.values()].map(({ pid }) => pid));
    for (const [key, { ppid, cpuSeconds }] of known) if (!members.has(key) && !pids.has(ppid)) ended += cpuSeconds;
    known = members;
    const alive = [...members.values()];
    const memory = await Promise.all(alive.map(memoryOf));
    return {
      memoryMB: memory.reduce((sum, each) => sum + each, 0),
      cpuSeconds: alive.reduce((sum, each) => sum + each.cpuSeconds, ended),
    };
  };
}

type Process = Readonly<{
  pid: number;
  ppid: number;
  /** The key of a process. It contains the start time, because pids are reused. */
  key: string;
  /** The processor time that the process and its ended children have used. */
  cpuSeconds: number;
  memoryMB?: number;
}>;

/** How many units of processor time, as the kernel reports them, make a second. */
const TICKS_PER_SECOND = 100;

async function processes(): Promise<Process[]> {
  if (process.platform !== "linux") return processesInList();
  const entries = await readdir("/proc").catch(() => []);
  const found = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(statOf));
  return found.filter((one) => one !== undefined);
}

async function statOf(pid: string): Promise<Process | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The program's name is in parentheses and may contain anything, so fields are counted from its end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, ppid] = fields;
  if (state === undefined || state === "Z" || ppid === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number(pid), ppid: Number(ppid), key: `${pid} ${fields[19]}`, cpuSeconds: ticks / TICKS_PER_SECOND };
}

async function memoryOf({ pid, memoryMB }: Process): Promise<number> {
  if (memoryMB !== undefined) return memoryMB;
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
}

async function bears(pid: number, marker: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.includes(marker) && environment.split("\0").includes(marker);
}

function processesInList(): Promise<Process[]> {
  return new Promise((resolve) => {
    execFile(
      "/bin/ps",
      ["-axo", "pid=,ppid=,rss=,time=,lstart="],
      { maxBuffer: 50_000_000, env: {} },
      (error, text) => {
        const lines = error
          ? []
          : text
              .split("\n")
              .map((line) => line.trim().split(/\s+/))
              .filter(({ length }) => length > 4);
        resolve(
          lines.map(([pid = "", ppid, rss, time = "", ...born]) => ({
            pid: Number(pid),
            ppid: Number(ppid),
            key: `${pid} ${born.join(" ")}`,
            memoryMB: Number(rss) / 1_024,
            cpuSeconds: time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0),
          })),
        );
      },
    );
  });
}
