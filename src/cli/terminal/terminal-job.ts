import { readFileSync } from "node:fs";

/** The process group of this process, the leader of its session, and the group in the foreground of its terminal. */
export type TerminalJob = Readonly<{ group: string; leader: string; front: string }>;

/** How this process is connected to its terminal. `undefined` on systems that have no `/proc`. */
export function terminalJob(): TerminalJob | undefined {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group = "", leader = "", , front = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group, leader, front };
  } catch {
    return undefined;
  }
}
