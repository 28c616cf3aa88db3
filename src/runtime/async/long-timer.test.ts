import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../core/vocabulary/limits.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { pause } from "./cancel.ts";
import { deadlineOf } from "./deadline.ts";
import { startTimer, timeoutSignal } from "./long-timer.ts";

/** Longer than a timer needs that fires at once. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

test("durations: a wait of any length that a person can write does not end at once", async () => {
  const amount = fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom("h", "d", "m"))
    .map(([n, unit]) => `${n}${unit}`);
  const spans = [
    ...fc.sample(amount, 200),
    "600h",
    "40000m",
    "2147483648ms",
    "2147483647ms",
    "365d",
    "9007199254740991ms",
  ];
  const over = new AbortController();
  const fired: string[] = [];
  for (const text of spans) {
    const ms = parseDuration(text)!;
    over.signal.addEventListener(
      "abort",
      startTimer(() => fired.push(text), ms),
    );
    timeoutSignal(ms).addEventListener("abort", () => fired.push(text));
    void pause(ms, over.signal).then((whole) => whole && fired.push(text));
    const limits = { ...DEFAULT_LIMITS, maxTimeMs: ms, enforce: true };
    const deadline = deadlineOf(limits, { signal: over.signal, emit: () => {} });
    deadline.signal.addEventListener("abort", () => deadline.passed() && fired.push(text));
  }
  await soon();
  expect(fired).toEqual([]);
  over.abort();
});

test("durations: a timer that is divided into steps fires in the end, and a cleared timer never fires", async () => {
  let fired = 0;
  await new Promise<void>((resolve) => startTimer(resolve, 5));
  startTimer(() => fired++, 1)();
  await soon();
  expect(fired).toBe(0);
});
