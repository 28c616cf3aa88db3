import { startTimer } from "./long-timer.ts";
import { onAbort } from "./on-abort.ts";

/**
 * The abort reason of stopped work. `pause`: the work can be resumed from the journal. `kill`: it can be resumed, too,
 * but the pause is not recorded.
 */
export type Stop = Readonly<{ stop: string; pause?: true; kill?: true }>;

/** Anything that can be aborted: a controller, or a task that still waits for a free slot. */
export type Stoppable = Readonly<{ abort(reason: Stop): void }>;

/** The abort reason for work that is cancelled, to be passed to `abort()`. */
export function stopped(reason: string): Stop {
  return { stop: reason };
}

/** The abort reason for a pause. */
export function pausedFor(reason: string): Stop {
  return { stop: reason, pause: true };
}

/** The abort reason for a kill: like a pause, but the pause is not recorded. */
export const killed: Stop = { stop: "killed", pause: true, kill: true };

/** True when the work was killed. */
export const isKilled = ({ reason }: AbortSignal): boolean => reason === killed;

/** The reason of a pause; `undefined` when the work runs or was cancelled. */
export function pauseReason(signal: AbortSignal): string | undefined {
  const reason: unknown = signal.reason;
  const isPause = typeof reason === "object" && reason !== null && "pause" in reason && reason.pause === true;
  return signal.aborted && isPause ? reasonOf(signal) : undefined;
}

/** The text of an abort reason. */
export function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  if (typeof reason === "object" && reason !== null && "stop" in reason) return String(reason.stop);
  return reason instanceof Error ? reason.message : "cancelled";
}

/** The abort reason to pass on to subtasks. */
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
  if (before) {
    controller.abort(before.reason);
    return { controller, release: () => {} };
  }
  const [only] = parents;
  if (only && parents.length === 1) return { controller, release: onAbort(only, () => controller.abort(only.reason)) };
  const releases = parents.map((parent) => onAbort(parent, () => controller.abort(parent.reason)));
  return { controller, release: () => releases.forEach((release) => release()) };
}

/** A controller that follows other signals, and a function that stops it from following. */
export type Follower = Readonly<{ controller: AbortController; release(): void }>;
