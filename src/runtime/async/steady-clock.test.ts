import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { steadyClock } from "./steady-clock.ts";

test("a clock that is set back continues from where it was", async () => {
  let wall = 1_000_000;
  const clock = steadyClock(() => wall);
  expect(clock()).toBe(1_000_000);
  wall += 50;
  expect(clock()).toBe(1_000_050);
  wall -= 3_600_000;
  expect(clock()).toBeGreaterThanOrEqual(1_000_050);
  await sleep(60);
  const later = clock();
  expect(later).toBeGreaterThanOrEqual(1_000_050 + 55);
  expect(later).toBeLessThan(1_000_050 + 30_000);
  wall = 2_000_000;
  expect(clock()).toBe(2_000_000);
});

test("a clock that is behind the last time of an earlier process continues from that time", async () => {
  const clock = steadyClock(() => 5, 1_000);
  await sleep(30);
  expect(clock()).toBeGreaterThanOrEqual(1_025);
});

test("a clock that does not advance shows the same time", () => {
  const clock = steadyClock(() => 7);
  expect([clock(), clock(), clock()]).toEqual([7, 7, 7]);
});
