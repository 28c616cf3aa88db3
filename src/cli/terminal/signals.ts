import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { basename } from "node:path";
import { setFlagsFromString } from "node:v8";

/** The functions to call when a signal arrives. */
export type SignalOptions = Readonly<{
  /** Pauses the run; called once. */
  pause(reason: string): void;
  /** True for a signal that is meant for another receiver, and has no effect here now. */
  ignores?(name: Name): boolean;
}>;

/** The handling of signals while a run is going on. */
export type Signals = Readonly<{
  /** Acts like Ctrl-C, for screens that read the keyboard themselves: in them Ctrl-C is a key, not a signal. */
  interrupt(): void;
  /** The exit code of the received signal. */
  code(): number | undefined;
  stop(): void;
}>;

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Name = keyof typeof codes;
const reasons: Readonly<Record<Name, string>> = {
  SIGINT: "stopped with Ctrl-C",
  SIGTERM: "the process received SIGTERM",
  SIGHUP: "the terminal was closed",
};

/** The time for a run to stop; after it, the process exits anyway. */
const DRAIN_MS = 10_000;

/**
 * Raises the priority of this process, if the system allows it. Otherwise the commands that this process has to end,
 * and other programs, may leave it too little processor time to end them. Every thread has its own priority, including
 * the threads that write files.
 */
function raisePriority(): void {
  try {
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
    for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // an ordinary user may not raise the priority
  }
}

/**
 * True if this process was told to survive the end of its terminal, by `nohup` or by a script that ignores SIGHUP. Node
 * resets the ignored signal when it starts, so this function recognises the origin of the process: shells name the
 * program that they start in the variable `_`.
 */
export function survivesTerminal(env: NodeJS.ProcessEnv, parent: number): boolean {
  if (basename(env["_"] ?? "") === "nohup") return true;
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${parent}/status`, "latin1"))?.[1] ?? "0";
    return (Number.parseInt(ignored.slice(-2), 16) & 1) === 1;
  } catch {
    return false; // this system has no `/proc`
  }
}

/**
 * V8 options that turn off work ahead of need: collecting garbage before the memory is needed, and optimizing code. A
 * process that exits within seconds gains nothing from this work, and on a busy machine it delays the exit by seconds.
 * Garbage is still collected when memory is needed.
 */
const AHEAD = ["--no-incremental-marking", "--no-memory-reducer", "--no-minor-gc-task", "--no-opt"];

/** The first signal pauses the run; a second signal exits at once. */
export function onSignals(
  { pause, ignores }: SignalOptions,
  names: readonly Name[] = Object.keys(codes) as Name[],
): Signals {
  let first: Name | undefined;
  const leave = (name: Name): never => process.exit(codes[name]);
  const receive = (name: Name): void => {
    if (ignores?.(name) || (name === "SIGHUP" && survivesTerminal(process.env, process.ppid))) return;
    if (first !== undefined) leave(name);
    first = name;
    raisePriority();
    pause(reasons[name]);
    for (const flag of AHEAD) setFlagsFromString(flag);
    setTimeout(() => leave(name), DRAIN_MS).unref();
  };
  for (const name of names) process.on(name, receive);
  return {
    interrupt: () => receive("SIGINT"),
    code: () => first && codes[first],
    stop: () => {
      // After a signal, the next one still exits with its code while the process is ending.
      if (first === undefined) for (const name of names) process.off(name, receive);
    },
  };
}
