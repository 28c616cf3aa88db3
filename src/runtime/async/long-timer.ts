/** Maximum delay of a Node timer; a timer with a longer delay fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A timer of any length; a delay that is too long for Node is split. Returns a function that clears it. */
export function startTimer(act: () => void, ms: number, { unref = false }: { unref?: boolean } = {}): () => void {
  let left = Math.max(0, Number.isNaN(ms) ? 0 : ms);
  let timer: NodeJS.Timeout;
  const step = (): void => {
    const now = Math.min(left, LONGEST_TIMER_MS);
    left -= now;
    timer = setTimeout(left > 0 ? step : act, now);
    if (unref) timer.unref();
  };
  step();
  return () => clearTimeout(timer);
}

/** A signal that aborts after a time of any length, and does not keep the process alive. */
export function timeoutSignal(ms: number): AbortSignal {
  if (ms <= LONGEST_TIMER_MS) return AbortSignal.timeout(Math.max(0, Math.ceil(ms)));
  const controller = new AbortController();
  startTimer(() => controller.abort(new DOMException("The operation timed out.", "TimeoutError")), ms, { unref: true });
  return controller.signal;
}
