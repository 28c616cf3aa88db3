/** Signals that end a process unless it handles them, and that leave it time to restore the terminal. */
const ENDING = [
  "SIGABRT",
  "SIGALRM",
  "SIGBUS",
  "SIGFPE",
  "SIGHUP",
  "SIGILL",
  "SIGINT",
  "SIGIO",
  "SIGPWR",
  "SIGQUIT",
  "SIGSEGV",
  "SIGSTKFLT",
  "SIGSYS",
  "SIGTERM",
  "SIGTRAP",
  "SIGUSR2",
  "SIGVTALRM",
  "SIGXCPU",
  "SIGXFSZ",
] as const satisfies readonly NodeJS.Signals[];

/**
 * Calls `restore` however the process ends: by itself, by an exception (before it is reported), or by any signal but
 * SIGKILL. A signal that something else handles is left to it. Returns a function that withdraws this.
 */
export function restoreOnEnd(restore: () => void): () => void {
  const receive = (name: NodeJS.Signals): void => {
    if (process.listenerCount(name) > 1) return; // it is handled, and the process may go on
    restore();
    withdraw();
    process.kill(process.pid, name);
  };
  const handled = ENDING.filter((name) => {
    try {
      process.on(name, receive);
      return true;
    } catch {
      return false; // this system does not know it, or keeps it for itself
    }
  });
  const withdraw = (): void => {
    process.off("exit", restore).off("uncaughtExceptionMonitor", restore);
    for (const name of handled) process.off(name, receive);
  };
  process.once("exit", restore).on("uncaughtExceptionMonitor", restore);
  return withdraw;
}
