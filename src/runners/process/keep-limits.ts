import { LONGEST_TIMER_MS } from "../../runtime/async/long-timer.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { GRACE_MS, type Limits } from "../../core/vocabulary/limits.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { ResourceUse } from "../../runtime/commands/process-meter.ts";

/** A process whose limits are enforced: functions to measure it, and to call when it exceeds a limit. */
export type WatchedProcess = Readonly<{
  used(): Promise<ResourceUse>;
  /** Resolves when the process responds. */
  ping(): Promise<void>;
  emit: PerformContext["emit"];
  /** How long the task has waited for subagents, people or providers so far, in milliseconds. */
  waited?(): number;
  /** Called once, with the fault of the exceeded limit. */
  passed(fault: FailedOutcome): void;
}>;

/** The intervals between measurements: a short interval if measuring is cheap, a long interval if it is expensive. */
const LOOK_EVERY_MS = process.platform === "linux" ? 200 : 1_000;
/** How much later than its time limit a task may end, and the timeout of a ping. */
const LATE_MS = 2_000;

/**
 * Enforces limits from outside of the task: memory, CPU time, and the time limit if the task hangs. A limit that cannot
 * be enforced is reported once.
 */
export function keepLimits(
  limits: Limits,
  { used, ping, emit, waited, passed }: WatchedProcess,
): Readonly<{ stop(): void }> {
  const { maxMemoryMB, maxCpuSeconds, maxTimeMs, enforce } = limits;
  const over = new AbortController();
  const reported = new Set<string>();
  const reached = (code: keyof typeof HINTS, limit: string, seen: string): void => {
    if (over.signal.aborted || reported.has(code)) return;
    reported.add(code);
    emit({ type: "limit.reached", limit: code, text: `The limit of ${limit} was reached${seen}.`, enforced: enforce });
    if (!enforce) return;
    over.abort();
    passed(
      failed(code, `The task was stopped at its limit of ${limit}${seen}.`, {
        hint: HINTS[code],
        retryable: code === "TIMEOUT",
      }),
    );
  };

  const watchUse = async (): Promise<void> => {
    while (await pause(LOOK_EVERY_MS, over.signal)) {
      const { memoryMB, cpuSeconds } = await used();
      if (maxMemoryMB !== undefined && memoryMB > maxMemoryMB)
        reached("MEMORY", `${maxMemoryMB} MB of memory`, ` with ${Math.round(memoryMB)} MB`);
      if (maxCpuSeconds !== undefined && cpuSeconds > maxCpuSeconds)
        reached("CPU", `${maxCpuSeconds} s of processor time`, ` with ${cpuSeconds.toFixed(1)} s`);
    }
  };
  /**
   * Enforces the time limit when the event loop of the task is blocked. Without a blocked event loop, the task enforces
   * its time limit itself.
   */
  const watchClock = async (): Promise<void> => {
    const until = performance.now() + maxTimeMs + GRACE_MS + LATE_MS;
    let wait = Math.min(maxTimeMs + LATE_MS, LONGEST_TIMER_MS);
    while (await pause(wait, over.signal)) {
      const works = await Promise.race([ping().then(() => true), pause(LATE_MS, over.signal).then(() => false)]);
      const why = works ? " and the task did not finish" : " and the task stopped responding";
      if (!works || performance.now() > until + (waited?.() ?? 0))
        reached("TIMEOUT", `${formatDuration(maxTimeMs)} of time`, why);
      wait = LATE_MS;
    }
  };
  if (maxMemoryMB !== undefined || maxCpuSeconds !== undefined) watchUse().catch(() => {});
  if (enforce) watchClock().catch(() => {});
  return { stop: () => over.abort() };
}

const HINTS = {
  MEMORY: "Raise the limit with --max-memory.",
  CPU: "Raise the limit with maxCpuSeconds in the task's resourceLimits.",
  TIMEOUT: "Raise the limit with --max-time.",
} as const;
