import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("formatDuration", () => {
  test.each([
    [0, "0ms", "0s"],
    [999, "999ms", "0s"],
    [1_500, "1.5s", "1s"],
    [61_000, "1m1s", "1m 1s"],
    [60_499, "1m0s", "1m 0s"],
    [60_500, "1m1s", "1m 0s"],
    [119_500, "2m0s", "1m 59s"],
    [3_600_000, "60m0s", "1h 0m"],
    [7_322_000, "122m2s", "2h 2m"],
  ])("writes %i ms as %s when tight and as %s when spaced", (ms, tight, spaced) => {
    expect(formatDuration(ms)).toBe(tight);
    expect(formatDuration(ms, "tight")).toBe(tight);
    expect(formatDuration(ms, "spaced")).toBe(spaced);
  });

  test("a negative duration and NaN are shown as zero", () => {
    expect(formatDuration(-5)).toBe("0ms");
    expect(formatDuration(Number.NaN)).toBe("0ms");
    expect(formatDuration(12.9)).toBe("12ms");
  });
});

describe("parseDuration", () => {
  test.each([
    ["90s", 90_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["500ms", 500],
    ["0", 0],
    ["0s", 0],
    ["1.5s", 1_500],
    ["0.5s", 500],
    ["2d", 172_800_000],
    ["1m500ms", 60_500],
    [" 5m ", 300_000],
  ])("reads %s as %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    "",
    " ",
    "s",
    "300",
    "0.5",
    "5x",
    "-5s",
    "5m5",
    "5s5m",
    "1e3",
    "5 m 3",
    "Infinity",
    "9".repeat(30),
    `${"9".repeat(100)}s`,
  ])("does not read %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
