import { startTimer } from "./long-timer.ts";
import { codeOfLimit, limitText, type ReachedLimit } from "../../core/outcome/reached-limit.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { type Limits, NEAR_MIN_MS, NEAR_SHARE } from "../../core/vocabulary/limits.ts";
import { following, reasonOf, stopped } from "./cancel.ts";

/** The deadline of one task. */
export type Deadline = Readonly<{
  signal: AbortSignal;
  passed(): boolean;
  /** The reason why the task was stopped. */
  reason(): string;
  stop(): void;
  /** Pauses the deadline during `wait`, for example while the task waits for subagents or people. */
  standing<T>(wait: () => Promise<T>): Promise<T>;
}>;

/**
 * Aborts when the task's time is up. If limits are not enforced, the end of the time is only reported. Calls `near`
 * once when most of a long time is used.
 */
export function deadlineOf(
  { maxTimeMs, enforce }: Limits,
  { signal, emit }: Pick<PerformContext, "signal" | "emit">,
  near: () => void = () => {},
): Deadline {
  const { controller, release } = following(signal);
  let passed = false;
  let over = false;
  let left = maxTimeMs;
  let since = 0;
  let waits = 0;
  let clear = (): void => {};
  let isNear = maxTimeMs < NEAR_MIN_MS;
  const end = (): void => {
    passed = true;
    if (enforce) controller.abort(stopped("the task's time is up"));
    else emit(timeReached({ maxTimeMs, enforce }));
  };
  const warn = (): void => {
    stand();
    isNear = true;
    go();
    near();
  };
  /** Starts the next timer: first for the warning, then for the end. */
  const go = (): void => {
    since = performance.now();
    clear = isNear ? startTimer(end, left) : startTimer(warn, Math.max(0, left - maxTimeMs * (1 - NEAR_SHARE)));
  };
  const stand = (): void => {
    clear();
    left = Math.max(0, left - (performance.now() - since));
  };
  go();
  return {
    standing: async (wait) => {
      if (waits === 0 && !passed) stand();
      waits += 1;
      try {
        return await wait();
      } finally {
        waits -= 1;
        if (waits === 0 && !passed && !over) go();
      }
    },
    signal: controller.signal,
    passed: () => passed,
    reason: () => reasonOf(signal),
    stop: () => {
      // A task that never waited for a timer passes its limit here at the latest.
      if (!enforce && !passed && waits === 0 && performance.now() - since >= left) end();
      over = true;
      clear();
      release();
    },
  };
}

/** The event of a task whose time is up. */
export function timeReached({
  maxTimeMs,
  enforce,
}: Pick<Limits, "maxTimeMs" | "enforce">): Extract<Fact, { type: "limit.reached" }> {
  const reached: ReachedLimit = { kind: "time", value: maxTimeMs };
  const text = `The limit of ${limitText(reached)} was reached.`;
  return { type: "limit.reached", limit: codeOfLimit(reached), text, enforced: enforce, reached };
}
