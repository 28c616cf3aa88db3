// @ts-check
import { readFileSync, writeFileSync } from "node:fs";

/** Resets the peak memory of this process, which Linux does on request. */
export function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // on other systems it is the peak since the start of the process
  }
}

/** The peak memory of this process, in bytes. */
export function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1_024;
  } catch {
    return process.resourceUsage().maxRSS * 1_024;
  }
}
