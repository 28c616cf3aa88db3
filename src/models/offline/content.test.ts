import { expect, test } from "vitest";
import { enumValue } from "./content.ts";

test.each([
  [["correct", "incorrect"], "incorrect"],
  [["approve", "request-changes"], "request-changes"],
  [["approved", "unknown", "rejected"], "unknown"],
  [["PASS", "FAIL"], "FAIL"],
])("the verdict chosen from %j is never an approval", (values, expected) => {
  expect(enumValue(values, "verdict")).toBe(expected);
});
