import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";

/** The processes that have this `NAME=value` in the environment they were started with. */
export async function bearersOf(marker: string): Promise<number[]> {
  return process.platform === "linux" ? bearersInProc(marker) : bearersInList(marker);
}

async function bearersInProc(marker: string): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await bears(pid, marker)) ? Number(pid) : undefined)));
  return found.filter((pid) => pid !== undefined);
}

async function bears(pid: string, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.includes(marker) && environment.split("\0").includes(marker);
}

function bearersInList(marker: string): Promise<number[]> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-axEww", "-o", "pid=,command="], { maxBuffer: 50_000_000, env: {} }, (error, text) => {
      const lines = error ? [] : text.split("\n").filter((line) => line.split(" ").includes(marker));
      resolve(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 1));
    });
  });
}

/** Signals a group. False: there is none, or none that we may signal. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  return Number.isInteger(leader) && leader > 1 && sent(-leader, signal);
}

/** Signals processes; those that are gone by now do not matter. */
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
 * Ends whoever bears the marker. Looks until nobody is found: who is just starting another process is found the next time,
 * and on a busy machine a process takes its time to die. One that cannot is given up after some seconds.
 */
export async function endBearers(marker: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const left = await bearersOf(marker);
    if (left.length === 0) return;
    signalAll(left, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 * (round + 1), 200)));
  }
}
