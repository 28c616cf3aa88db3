import { describe, expect, test } from "vitest";
import { addCost, addUsage, formatCost, formatTokens, formatUsage, noCost, noUsage } from "./usage.ts";

describe("addUsage", () => {
  test("adds every counter and keeps the context size of the later usage", () => {
    const first = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, contextTokens: 60, turns: 7 };
    const second = {
      input: 10,
      output: 20,
      cacheRead: 30,
      cacheWrite: 40,
      reasoning: 50,
      contextTokens: 61,
      turns: 70,
    };
    expect(addUsage(first, second)).toEqual({
      input: 11,
      output: 22,
      cacheRead: 33,
      cacheWrite: 44,
      reasoning: 55,
      contextTokens: 61,
      turns: 77,
    });
  });

  test("adding empty usage changes nothing", () => {
    const usage = { ...noUsage(), input: 1, contextTokens: 9, turns: 1 };
    expect(addUsage(usage, noUsage())).toEqual(usage);
    expect(addUsage(noUsage(), usage)).toEqual(usage);
  });
});

describe("cost", () => {
  test("known and unknown costs are summed separately", () => {
    expect(addCost({ usd: 0.5, unpriced: 1 }, { usd: 0.25, unpriced: 2 })).toEqual({ usd: 0.75, unpriced: 3 });
  });

  test("an unknown price is reported and never shown as free", () => {
    expect(formatCost(noCost())).toBe("free");
    expect(formatCost({ usd: 0.000_001, unpriced: 0 })).toBe("under $0.0001");
    expect(formatCost({ usd: 0, unpriced: 1 })).toBe("unknown price");
    expect(formatCost({ usd: 0.5, unpriced: 1 })).toBe("$0.5000 + unknown price");
  });
});

test.each([
  [999, "999"],
  [1_000, "1.0k"],
  [9_999, "10.0k"],
  [10_000, "10k"],
  [1_234_567, "1.2M"],
])("%i tokens are shown as %s", (count, text) => {
  expect(formatTokens(count)).toBe(text);
});

describe("formatUsage", () => {
  test("the line ends with the name of the model", () => {
    expect(formatUsage({ ...noUsage(), turns: 1, input: 10 }, noCost(), "small")).toBe("1 turn ↑10 small");
  });

  test("the line says that the price is unknown", () => {
    expect(formatUsage({ ...noUsage(), turns: 2 }, { usd: 0, unpriced: 2 })).toBe("2 turns unknown price");
  });
});
