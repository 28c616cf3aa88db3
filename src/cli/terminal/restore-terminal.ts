/**
 * Signals that end a process unless it handles them, and that leave it time to restore the terminal. The signals of a fault of
 * the processor (SIGSEGV, SIGBUS, ...) are not among them: after a handler the same instruction faults again, for ever.
 */
const ENDING = [
  "SIGABRT",
  "SIGALRM",
  "SIGHUP",
  "SIGINT",
  "SIGIO",
  "SIGPWR",
  "SIGQUIT",
  "SIGSTKFLT",
  "SIGTERM",
  "SIGUSR2",
  "SIGVTALRM",
  "SIGXCPU",
  "SIGXFSZ",
] as const satisfies readonly NodeJS.Signals[];

/** What restores the terminal, the newest first: a screen may be open above another one. */
const restores: (() => void)[] = [];
let withdrawListeners: (() => void) | undefined;

/**
 * Calls `restore` however the process ends: by itself, by an exception (before it is reported), or by any signal but
 * SIGKILL. A signal that something else handles is left to it. Returns a function that withdraws this.
 */
export function restoreOnEnd(restore: () => void): () => void {
  restores.unshift(restore);
  withdrawListeners ??= listen();
  return () => {
    const at = restores.indexOf(restore);
    if (at >= 0) restores.splice(at, 1);
    if (restores.length > 0) return;
    withdrawListeners?.();
    withdrawListeners = undefined;
  };
}

/** One listener for all screens: with one each, every screen would take the others for a handler of the signal. */
function listen(): () => void {
  const restoreAll = (): void => {
    for (const restore of [...restores]) restore();
  };
  const receive = (name: NodeJS.Signals): void => {
    if (process.listenerCount(name) > 1) return; // it is handled, and the process may go on
    restoreAll();
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
    process.off("exit", ended).off("uncaughtExceptionMonitor", restoreAll);
    for (const name of handled) process.off(name, receive);
  };
  const ended = (): void => {
    restoreAll();
    withdraw();
  };
  // What goes wrong in the exit itself must end the process.
  process.once("exit", ended).on("uncaughtExceptionMonitor", restoreAll);
  return withdraw;
}
