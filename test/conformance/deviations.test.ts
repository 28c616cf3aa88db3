import { expect, test } from "vitest";
import { deviations } from "./deviations.ts";
import { hasCase } from "./harness.ts";

test.each(deviations)(
  "the deviation from $file $area: $name is about an existing case and gives its reason",
  ({ file, area, name, why }) => {
    expect(hasCase(file, area, name)).toBe(true);
    expect(why).toMatch(/\b(?:SPEC|DESIGN)\b/);
  },
);

test("no case is listed twice", () => {
  const keys = deviations.map(({ file, area, name }) => `${file} ${area} ${name}`);
  expect(new Set(keys).size).toBe(keys.length);
});
