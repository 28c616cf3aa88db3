import { expect, test } from "vitest";
import { killWithBudget } from "./budgets.ts";

test("a budget is exact for recorded turns through kills at random points; the soak tries a hundred", async () => {
  const { kills, reached, wrong } = await killWithBudget(15);
  expect(wrong).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(15);
  expect(reached).toBeGreaterThan(0);
});
