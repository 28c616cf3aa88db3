import { appendFileSync } from "node:fs";

/** The kinds of faults that tests can inject. */
type Effect = keyof typeof SIGNALS | "enospc" | "eio";
type Armed = { effect: Effect; point: string | undefined; left: number } | { trace: string };

/**
 * Set only by the command-line program when `SUBCREW_FAULT` is set; this is module state, because a kill affects the
 * whole process.
 */
let armed: Armed | undefined;

const SIGNALS = { kill: "SIGKILL", stop: "SIGSTOP", int: "SIGINT", term: "SIGTERM", hup: "SIGHUP" } as const;
const SPELLING = /^(kill|stop|int|term|hup|enospc|eio)@(?:([a-z.]+):)?(\d{1,9})$/;

/**
 * Injects a fault, for tests of durability. `kill@12`: the process gets SIGKILL at its twelfth fault point; `stop@12`:
 * SIGSTOP; `int@12`, `term@12`, `hup@12`: SIGINT, SIGTERM, SIGHUP; `eio@12` and `enospc@12`: the write at that point
 * fails. `kill@journal.written:3` counts only the points of that name. `trace@FILE` writes the name of every point to a
 * file and lets it pass.
 */
export function armFaults(text: string | undefined): void {
  const [, effect, point, left] = SPELLING.exec(text ?? "") ?? [];
  if (effect !== undefined) armed = { effect: effect as Effect, point, left: Number(left) };
  else armed = text?.startsWith("trace@") ? { trace: text.slice("trace@".length) } : undefined;
}

/**
 * Marks a point where the state folder is about to change, or has just changed. Does nothing unless faults are armed.
 */
export function fault(point: string): void {
  if (armed) strike(armed, point);
}

function strike(it: Armed, point: string): void {
  if ("trace" in it) return appendFileSync(it.trace, `${point}\n`);
  if (it.point !== undefined && it.point !== point) return;
  it.left -= 1;
  if (it.left !== 0) return;
  if (it.effect !== "enospc" && it.effect !== "eio") process.kill(process.pid, SIGNALS[it.effect]);
  else
    throw Object.assign(new Error(`${it.effect.toUpperCase()}: made to fail at ${point}`), {
      code: it.effect.toUpperCase(),
    });
}
