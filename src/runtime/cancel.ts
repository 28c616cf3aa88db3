/** Why work was stopped, as the reason of an AbortSignal. */
export type Stop = Readonly<{ stop: string }>;

/** The reason to hand to `abort()`. */
export function stopped(reason: string): Stop {
  return { stop: reason };
}

/** The words of an abort: ours, or those of whoever aborted. */
export function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "stop" in reason) return String(reason.stop);
  return reason instanceof Error ? reason.message : "cancelled";
}

/** Waits, unless the signal aborts first; never rejects. True when the whole time went by. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve(true);
    }, ms);
    const giveUp = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** A controller that follows a parent signal until `release` is called. */
export function following(parent: AbortSignal): { controller: AbortController; release(): void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return { controller, release: () => parent.removeEventListener("abort", follow) };
}
