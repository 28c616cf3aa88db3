import { startTimer } from "./long-timer.ts";
import { onAbort } from "./on-abort.ts";

/** Why work was stopped, as the reason of an AbortSignal. */
export type Stop = Readonly<{ stop: string }>;

/** What can be told to stop: a controller, or a task that still waits for its slot. */
export type Stoppable = Readonly<{ abort(reason: Stop): void }>;

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
