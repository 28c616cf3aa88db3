import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { withoutSpent } from "../../core/outcome/outcome-of-plan.ts";
import { limitText, type ReachedLimit } from "../../core/outcome/reached-limit.ts";
import { changesWork } from "../../core/run/budget-spent.ts";
import { isWaiting } from "../../core/run/run-status.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { GRACE_MS } from "../../core/vocabulary/limits.ts";
import { following, stopped } from "../async/cancel.ts";
import { startTimer } from "../async/long-timer.ts";
import type { Feature } from "./feature.ts";

/** Time for tasks to return a result after the deadline. */
const SETTLE_MS = 5_000;

export const timeLimitFeature: Feature = {
  name: "time limit",
  does: "ends the work when the run has worked as long as it may; waiting for a person does not count",
  open: ({ parameters: { maxTimeMs }, parks, log, state, emit }) => {
    if (maxTimeMs === undefined) return {};
    let clock: RunClock | undefined;
    const park = parks?.onLimit === "park";
    return {
      scope: ({ signal, budget }) => {
        clock = startRunClock(signal, {
          maxTimeMs,
          worked: log.spent.ms,
          parks: park,
          close: (limit) => {
            const text = `The run reached its limit of ${limitText(limit)}.`;
            emit("", { type: "limit.reached", limit: "time", text, enforced: true, reached: limit });
            budget.close(limit, { revoke: !park });
          },
        });
        return { signal: clock.signal };
      },
      stored: (events) => {
        if (events.some(({ type }) => changesWork.has(type))) clock?.wait(isWaiting(state));
      },
      end: (outcome) => (clock?.passed() ? timedOut(outcome, clock) : outcome),
      close: () => clock?.stop(),
    };
  },
};

/** The outcome of a run whose time is up: its result so far, or a failure. */
function timedOut(outcome: Outcome, { text, limit }: Pick<RunClock, "text" | "limit">): Outcome {
  if (outcome.status === "ok") return { ...withoutSpent(outcome), limit };
  const fault = failed("TIMEOUT", `Stopped: ${text}.`, { hint: "Raise the limit with --max-run-time." });
  const output = "output" in outcome ? outcome.output : undefined;
  return { ...fault, limit, ...defined({ output }) };
}

/** Measures how long a run may still work. */
type RunClock = Readonly<{
  signal: AbortSignal;
  text: string;
  limit: ReachedLimit;
  passed(): boolean;
  /** Stops the clock while all tasks wait for a person or are parked (wait for a provider). */
  wait(waiting: boolean): void;
  stop(): void;
}>;

type RunClockOptions = Readonly<{
  maxTimeMs: number;
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
function startRunClock(parent: AbortSignal, { maxTimeMs: ms, worked, close, parks }: RunClockOptions): RunClock {
  const { controller, release } = following(parent);
  const text = `the run took longer than ${formatDuration(ms)}`;
  const limit: ReachedLimit = { kind: "time", value: ms, run: true };
  let passed = false;
  let left = Math.max(0, ms - worked);
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
  go();
  return {
    signal: controller.signal,
    text,
    limit,
    passed: () => passed,
    wait: (waiting) => {
      if (left === 0 || waiting === standing) return;
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
