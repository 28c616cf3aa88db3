import { readRegularTextSync } from "../disk/regular-file.ts";

const LOOK_MS = 1_000;
const LOOKS = 3;

/**
 * Calls `stuck` when a process and all its descendants have slept for three seconds without using the processor. Git
 * has no reason to wait that long unless it opened a pipe, such as one in place of `.gitignore`. Does nothing on
 * systems without `/proc`.
 */
export function onStuck(pid: number, stuck: () => void): () => void {
  let [before, same] = [-1, 0];
  const timer = setInterval(() => {
    const ticks = ticksAsleep(pid);
    same = ticks !== undefined && ticks === before ? same + 1 : 0;
    before = ticks ?? -1;
    if (same < LOOKS) return;
    clearInterval(timer);
    stuck();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The processor time of a process and all its descendants; `undefined`: one of them is running, or nothing is known.
 */
function ticksAsleep(pid: number): number | undefined {
  try {
    const stat = readRegularTextSync(`/proc/${pid}/stat`);
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state !== "S") return undefined;
    const below = readRegularTextSync(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
    const ticks = below.map((child) => ticksAsleep(Number(child)) ?? Number.NaN);
    const sum = [Number(fields[10]), Number(fields[11]), ...ticks].reduce((one, other) => one + other, 0);
    return Number.isNaN(sum) ? undefined : sum;
  } catch {
    return undefined;
  }
}
