import { describe, expect, test } from "vitest";
import { calculateBackoff, parseRetryFlag, shouldRetry } from "./retry.ts";

const base = { maxAttempts: 3, backoffMs: 1 };

describe("shouldRetry", () => {
  test("without a configuration nothing is retried", () => {
    expect(shouldRetry("timeout")).toBe(false);
    expect(shouldRetry("timeout", null)).toBe(false);
  });

  test("without patterns everything is retried", () => {
    expect(shouldRetry("anything", base)).toBe(true);
  });

  test("an empty pattern matches every error", () => {
    expect(shouldRetry("timeout", { ...base, skipOn: [""] })).toBe(false);
    expect(shouldRetry("timeout", { ...base, retryOn: [""] })).toBe(true);
  });

  test("a pattern is plain text, not a regular expression", () => {
    expect(shouldRetry("abc", { ...base, retryOn: ["a.c"] })).toBe(false);
  });
});

describe("calculateBackoff", () => {
  test("doubles up to a minute", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => calculateBackoff(1_000, attempt))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ]);
  });

  test.each([1_024, 10_000, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    "gives a finite wait at attempt %d",
    (attempt) => {
      expect(calculateBackoff(1_000, attempt)).toBe(60_000);
      expect(calculateBackoff(0, attempt)).toBe(0);
    },
  );

  test("invalid numbers never give a negative or endless wait", () => {
    expect(calculateBackoff(100, 0)).toBe(50);
    expect(calculateBackoff(100, Number.NEGATIVE_INFINITY)).toBe(0);
    expect(calculateBackoff(100, Number.NaN)).toBe(100);
    expect(calculateBackoff(-100, 2)).toBe(0);
    expect(calculateBackoff(Number.NaN, 2)).toBe(0);
    expect(calculateBackoff(Number.POSITIVE_INFINITY, 1)).toBe(60_000);
  });
});

describe("parseRetryFlag", () => {
  test.each([
    ["3", { maxAttempts: 3, backoffMs: 1_000 }],
    ["3x500ms", { maxAttempts: 3, backoffMs: 500 }],
    ["3,1s", { maxAttempts: 3, backoffMs: 1_000 }],
    ["5x2s", { maxAttempts: 5, backoffMs: 2_000 }],
    ["100x0", { maxAttempts: 100, backoffMs: 0 }],
  ])("reads %s", (text, config) => {
    expect(parseRetryFlag(text)).toEqual(config);
  });

  test.each(["", "0", "-1", "101", "x500ms", "3x", "3xsoon", "3x500", "3.5", "3 times", "1e2"])(
    "does not read %j",
    (text) => {
      expect(parseRetryFlag(text)).toBeUndefined();
    },
  );
});
