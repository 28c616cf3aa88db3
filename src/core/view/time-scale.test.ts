import { expect, test } from "vitest";
import { timeScale } from "./time-scale.ts";

test("on the time scale of a run without long pauses, positions are proportional to time", () => {
  const { place, pauses } = timeScale(
    [
      { from: 0, to: 50 },
      { from: 55, to: 100 },
    ],
    0,
    100,
  );
  expect([0, 25, 100].map(place)).toEqual([0, 0.25, 1]);
  expect(pauses).toEqual([]);
});

test("on the time scale of a run, a night between two minutes of work takes little room and is marked", () => {
  const night = 8 * 3_600_000;
  const { place, pauses } = timeScale(
    [
      { from: 0, to: 60_000 },
      { from: night, to: night + 60_000 },
    ],
    0,
    night + 60_000,
  );
  expect(place(60_000)).toBeGreaterThan(0.4);
  expect(place(night)).toBeLessThan(0.6);
  expect(place(night + 60_000)).toBe(1);
  expect(pauses).toEqual([{ at: expect.closeTo(0.5, 2), ms: night - 60_000 }]);
});

test("on a time scale, times outside of the run are placed at its ends, and an empty run has a valid scale", () => {
  const { place } = timeScale([], 10, 20);
  expect([0, 10, 20, 30].map(place)).toEqual([0, 0, 1, 1]);
});
