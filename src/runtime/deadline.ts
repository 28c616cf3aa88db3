import type { PerformContext } from "../core/engine.ts";
import type { Limits } from "../core/limits.ts";
import { following, reasonOf, stopped } from "./cancel.ts";

/** The wall clock of one task. */
export type Deadline = Readonly<{
  signal: AbortSignal;
  passed(): boolean;
  /** Why the work above was stopped, when it was. */
  reason(): string;
  stop(): void;
}>;

/** Aborts when the task's time is up; when limits only warn, the time is noted and nothing is stopped. */
export function deadlineOf({ maxTimeMs, enforce }: Limits, { signal }: PerformContext): Deadline {
  const { controller, release } = following(signal);
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    if (enforce) controller.abort(stopped("the task's time is up"));
  }, maxTimeMs);
  return {
    signal: controller.signal,
    passed: () => passed,
    reason: () => reasonOf(signal),
    stop: () => {
      clearTimeout(timer);
      release();
    },
  };
}
