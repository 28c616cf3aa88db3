import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { measureJumps, steadyClock } from "./steady-clock.ts";

test("steady clock: when the machine's clock is set back, the time continues from where it was", async () => {
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

test("steady clock: when the machine's clock is behind the last time of an earlier process, the time continues from that time", async () => {
  const clock = steadyClock(() => 5, 1_000);
  await sleep(30);
  expect(clock()).toBeGreaterThanOrEqual(1_025);
});

test("steady clock: when the machine's clock does not advance, the time stays the same", () => {
  const clock = steadyClock(() => 7);
  expect([clock(), clock(), clock()]).toEqual([7, 7, 7]);
});

test("steady clock: a forward jump is measured, also a jump in small steps; a clock that runs evenly has no jump", () => {
  const begin = performance.now();
  const even = (): number => Math.floor(1_000_000 + performance.now() - begin);
  const jumpBefore = measureJumps();
  expect([jumpBefore(even()), jumpBefore(even()), jumpBefore(even() - 500)]).toEqual([undefined, undefined, undefined]);
  const jump = jumpBefore(even() + 3_600_000) ?? 0;
  expect(Math.abs(jump - 3_600_500)).toBeLessThan(5);
  expect(jumpBefore(even() + 3_600_000)).toBeUndefined();
  const steps = Array.from({ length: 40 }, (_, n) => jumpBefore(even() + 3_600_000 + 100 * (n + 1)) ?? 0);
  expect(Math.abs(steps.reduce((sum, each) => sum + each, 0) - 4_000)).toBeLessThan(1_000);
});
