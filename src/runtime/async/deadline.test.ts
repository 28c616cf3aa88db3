import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { combineLimits, NEAR_MIN_MS, NEAR_SHARE } from "../../core/vocabulary/limits.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { deadlineOf } from "./deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LONG_MS = NEAR_MIN_MS * 2;
const NEAR_MS = Math.round(LONG_MS * NEAR_SHARE);

const contextOf = (emit: PerformContext["emit"] = () => {}) => ({ signal: new AbortController().signal, emit });
const clockOf = (maxDurationMs: number) => deadlineOf(combineLimits({ maxDurationMs }), contextOf());

test("the deadline of a task fires once and stops its work", () => {
  const clock = clockOf(100);
  vi.advanceTimersByTime(99);
  expect(clock.passed()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(clock.passed() && clock.signal.aborted).toBe(true);
});

test("waiting for helpers or people pauses the deadline, also when waits overlap", async () => {
  const clock = clockOf(100);
  vi.advanceTimersByTime(60);
  const waits = [500, 900].map((ms) => clock.standing(() => new Promise((resolve) => setTimeout(resolve, ms))));
  await vi.advanceTimersByTimeAsync(900);
  await Promise.all(waits);
  expect(clock.passed()).toBe(false);
  vi.advanceTimersByTime(39);
  expect(clock.passed()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(clock.passed()).toBe(true);
});

test("a stopped deadline does not restart after a wait", async () => {
  const clock = clockOf(100);
  const wait = clock.standing(() => new Promise((resolve) => setTimeout(resolve, 50)));
  clock.stop();
  await vi.advanceTimersByTimeAsync(500);
  await wait;
  expect(clock.passed()).toBe(false);
});

test("a long task is warned once before its time limit, also if it waited before", async () => {
  const near = vi.fn<() => void>();
  const clock = deadlineOf(combineLimits({ maxDurationMs: LONG_MS }), contextOf(), near);
  vi.advanceTimersByTime(LONG_MS / 2);
  const wait = clock.standing(() => new Promise((resolve) => setTimeout(resolve, LONG_MS)));
  await vi.advanceTimersByTimeAsync(LONG_MS);
  await wait;
  vi.advanceTimersByTime(NEAR_MS - LONG_MS / 2 - 1);
  expect(near).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(near).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(LONG_MS - NEAR_MS - 1);
  expect(clock.passed()).toBe(false);
  vi.advanceTimersByTime(1);
  expect([clock.passed(), near.mock.calls.length]).toEqual([true, 1]);
});

test("a time limit that is not enforced is reported once when it passes, at the latest when the task ends", () => {
  const facts: object[] = [];
  const open = () =>
    deadlineOf(
      combineLimits({ maxDurationMs: 100, enforceLimits: false }),
      contextOf((fact) => facts.push(fact)),
    );
  const clock = open();
  vi.advanceTimersByTime(100);
  expect([clock.passed(), clock.signal.aborted]).toEqual([true, false]);
  clock.stop();
  const reported = { type: "limit.reached", limit: "TIMEOUT", enforced: false, reached: { kind: "time", value: 100 } };
  expect(facts).toMatchObject([reported]);
  const busy = open();
  vi.setSystemTime(Date.now() + 200);
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 200);
  busy.stop();
  expect(facts).toMatchObject([reported, reported]);
  open().stop();
  expect(facts).toHaveLength(2);
});
