import { readRegularTextSync } from "../disk/regular-file.ts";

const LOOK_MS = 1_000;
/**
 * How many checks in a row must find a process asleep before it counts as stuck: fewer if it opens a pipe, more if it
 * sleeps for another reason, such as a slow disk.
 */
const LOOKS = { pipe: 3, other: 30 };

/** What a process waits for: the other end of a pipe that it opens, or something unknown. */
export type StuckReason = keyof typeof LOOKS;

/**
 * Kills a process and its descendants when all of them sleep without using the processor, and calls `stuck`. It waits
 * three seconds if one of them is opening a named pipe, such as one called `.gitignore`, and thirty otherwise, because
 * a network disk may be slow. Does nothing on systems without `/proc`.
 */
export function killStuck(pid: number, stuck: (why: StuckReason) => void): () => void {
  let [before, same] = [-1, 0];
  const timer = setInterval(() => {
    const ticks = ticksAsleep(pid);
    same = ticks !== undefined && ticks === before ? same + 1 : 0;
    before = ticks ?? -1;
    if (same < LOOKS.pipe) return;
    const why = opensPipe(pid) ? "pipe" : "other";
    if (same < LOOKS[why]) return;
    clearInterval(timer);
    stuck(why);
    killTree(pid);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function killTree(pid: number): void {
  try {
    // the children are collected before the kill, because afterwards they have another parent
    const children = childrenOf(pid);
    process.kill(pid, "SIGKILL");
    children.forEach(killTree);
  } catch {} // the process has just ended
}

/** True when a process or a descendant opens a pipe whose other end no process has opened. */
function opensPipe(pid: number): boolean {
  try {
    if (OPENS_PIPE.has(readRegularTextSync(`/proc/${pid}/wchan`).trim())) return true;
    return childrenOf(pid).some(opensPipe);
  } catch {
    return false;
  }
}

/** The kernel functions in which a process waits while it opens a pipe. */
const OPENS_PIPE: ReadonlySet<string> = new Set(["wait_for_partner", "fifo_open"]);

const childrenOf = (pid: number): number[] =>
  readRegularTextSync(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);

/**
 * The processor time of a process and all its descendants; `undefined`: one of them is running, or nothing is known.
 */
function ticksAsleep(pid: number): number | undefined {
  try {
    const stat = readRegularTextSync(`/proc/${pid}/stat`);
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state !== "S") return undefined;
    const ticks = childrenOf(pid).map((child) => ticksAsleep(child) ?? Number.NaN);
    const sum = [Number(fields[10]), Number(fields[11]), ...ticks].reduce((one, other) => one + other, 0);
    return Number.isNaN(sum) ? undefined : sum;
  } catch {
    return undefined;
  }
}
