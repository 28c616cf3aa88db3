/**
 * Signals that end a process unless it handles them, and that leave time to restore the terminal. Processor faults
 * (SIGSEGV, SIGBUS, ...) are excluded: after a handler the same instruction would fault again, for ever.
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

/** The functions that restore the terminal, the newest first: screens can be nested. */
const restores: (() => void)[] = [];
let withdrawListeners: (() => void) | undefined;

/**
 * Calls `restore` before the process ends, whether normally, by an exception (before it is reported), or by any signal
 * but SIGKILL and a processor fault. A signal that has another handler is left to that handler. Returns a function that
 * cancels this.
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

/**
 * Installs one listener for all screens. With one listener each, a screen would mistake the listener of another
 * screen for a handler of the signal.
 */
function listen(): () => void {
  const restoreAll = (): void => {
    for (const restore of [...restores]) restore();
  };
  const receive = (name: NodeJS.Signals): void => {
    if (process.listenerCount(name) > 1) return; // the signal has another handler, so the process may continue
    restoreAll();
    withdraw();
    process.kill(process.pid, name);
  };
  const handled = ENDING.filter((name) => {
    try {
      process.on(name, receive);
      return true;
    } catch {
      return false; // this system does not know the signal, or reserves it
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
  // An exception in the exit handler must still end the process.
  process.once("exit", ended).on("uncaughtExceptionMonitor", restoreAll);
  return withdraw;
}
