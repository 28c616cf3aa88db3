import type { ReachedLimit } from "../../core/outcome/reached-limit.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { GRACE_MS } from "../../core/vocabulary/limits.ts";
import { following, stopped } from "../async/cancel.ts";
import { startTimer } from "../async/long-timer.ts";

/** Time for tasks to return a result after the deadline. */
const SETTLE_MS = 5_000;

/** Measures how long a run may still work. */
export type RunClock = Readonly<{
  signal: AbortSignal;
  text: string;
  limit: ReachedLimit;
  passed(): boolean;
  /** Stops the clock while all tasks wait for a person or are parked (wait for a provider). */
  wait(waiting: boolean): void;
  stop(): void;
}>;

export type RunClockOptions = Readonly<{
  maxTimeMs: number | undefined;
  /** The working time of the run before it was resumed, in milliseconds. */
  worked: number;
  /** Called when the time is up: tasks return their result so far, or park (wait). */
  close(limit: ReachedLimit): void;
  /** True: when the time is up, tasks park (wait for a higher limit), and a running model turn may finish. */
  parks: boolean;
}>;

/**
 * The run's signal and clock. When the time is up, tasks get one more turn to return a result; after that turn they are
 * aborted.
 */
export function startRunClock(parent: AbortSignal, { maxTimeMs: ms, worked, close, parks }: RunClockOptions): RunClock {
  const { controller, release } = following(parent);
  const text = `the run took longer than ${formatDuration(ms ?? 0)}`;
  const limit: ReachedLimit = { kind: "time", value: ms ?? 0, run: true };
  let passed = false;
  let left = Math.max(0, (ms ?? 0) - worked);
  let since = performance.now();
  let standing = false;
  let clear: (() => void) | undefined;
  const abort = (): void => controller.abort(stopped(text));
  const go = (): void => {
    since = performance.now();
    clear = startTimer(() => {
      passed = !parks;
      close(limit);
      clear = parks ? undefined : startTimer(abort, GRACE_MS + SETTLE_MS);
      left = 0;
    }, left);
  };
  if (ms !== undefined) go();
  return {
    signal: controller.signal,
    text,
    limit,
    passed: () => passed,
    wait: (waiting) => {
      if (ms === undefined || left === 0 || waiting === standing) return;
      standing = waiting;
      if (!waiting) return go();
      clear?.();
      left = Math.max(0, left - (performance.now() - since));
    },
    stop: () => {
      clear?.();
      release();
    },
  };
}
