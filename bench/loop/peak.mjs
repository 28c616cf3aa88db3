// @ts-check
import { readFileSync, writeFileSync } from "node:fs";

/** Linux keeps the largest size that a process had, and forgets it on request. */
export function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // elsewhere it is the largest size since the process began
  }
}

/** The largest size of this process, in bytes. */
export function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1_024;
  } catch {
    return process.resourceUsage().maxRSS * 1_024;
  }
}
