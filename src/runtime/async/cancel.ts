import { startTimer } from "./long-timer.ts";
import { onAbort } from "./on-abort.ts";

/** Why work was stopped, as the reason of an AbortSignal. `pause`: it goes on later from what is recorded. */
export type Stop = Readonly<{ stop: string; pause?: true }>;

/** What can be told to stop: a controller, or a task that still waits for its slot. */
export type Stoppable = Readonly<{ abort(reason: Stop): void }>;

/** The reason to hand to `abort()`. */
export function stopped(reason: string): Stop {
  return { stop: reason };
}

/** The same for work that is to go on later. */
export function pausedFor(reason: string): Stop {
  return { stop: reason, pause: true };
}

/** Why work was paused; `undefined` while it goes on, and when it was stopped for good. */
export function pauseReason(signal: AbortSignal): string | undefined {
  const reason: unknown = signal.reason;
  const isPause = typeof reason === "object" && reason !== null && "pause" in reason && reason.pause === true;
  return signal.aborted && isPause ? reasonOf(signal) : undefined;
}

/** The words of an abort: ours, or those of whoever aborted. */
export function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "stop" in reason) return String(reason.stop);
  return reason instanceof Error ? reason.message : "cancelled";
}

/** An abort as it is passed on to the work below. */
export function stopOf(signal: AbortSignal): Stop {
  const reason = pauseReason(signal);
  return reason === undefined ? stopped(reasonOf(signal)) : pausedFor(reason);
}

/** Waits, unless the signal aborts first; never rejects. True when the whole time went by. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const clear = startTimer(() => {
      release();
      resolve(true);
    }, ms);
    const release = onAbort(signal, () => {
      clear();
      resolve(false);
    });
  });
}

/** A controller that follows its parents' signals until `release` is called. */
export function following(...parents: readonly AbortSignal[]): Follower {
  const controller = new AbortController();
  const before = parents.find(({ aborted }) => aborted);
  if (before) controller.abort(before.reason);
  const releases = before ? [] : parents.map((parent) => onAbort(parent, () => controller.abort(parent.reason)));
  return {
    controller,
    release: () => {
      for (const release of releases) release();
    },
  };
}

/** A controller that listens, and how it stops listening. */
export type Follower = Readonly<{ controller: AbortController; release(): void }>;
