import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

/** The handlers of signals. */
export type SignalOptions = Readonly<{
  /** Pauses the run; called once. */
  pause(reason: string): void;
}>;

/** The handling of signals while a run is going on. */
export type Signals = Readonly<{
  /** Acts as Ctrl-C does; for screens that read the keyboard themselves, where Ctrl-C is a key and not a signal. */
  interrupt(): void;
  /** The exit code that a signal asks for. */
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

/** Time for a run to stop before the process exits anyway. */
const DRAIN_MS = 10_000;

/**
 * Lets this process go first from now on, where the system allows it: the commands that are to end, and other programs, may
 * leave it too little processor time to end them. Each thread has a priority of its own, also those that write files.
 */
function raisePriority(): void {
  try {
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
    for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // an ordinary user may not raise the priority
  }
}

/** The first signal pauses the run, a second one exits at once. */
export function onSignals({ pause }: SignalOptions, names: readonly Name[] = Object.keys(codes) as Name[]): Signals {
  let first: Name | undefined;
  const leave = (name: Name): never => process.exit(codes[name]);
  const receive = (name: Name): void => {
    if (first !== undefined) leave(name);
    first = name;
    raisePriority();
    pause(reasons[name]);
    setTimeout(() => leave(name), DRAIN_MS).unref();
  };
  for (const name of names) process.on(name, receive);
  return {
    interrupt: () => receive("SIGINT"),
    code: () => first && codes[first],
    stop: () => {
      for (const name of names) process.off(name, receive);
    },
  };
}
