import { readFileSync } from "node:fs";

/** True for a process that has not ended; one that was not waited for yet (a zombie) has ended. Linux only. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
