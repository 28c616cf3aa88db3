import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults } from "../conformance/harness.ts";

/** The test of each fault of the area "fuzz-property"; the soak tries each of them many more times. */
const proven: Readonly<Record<string, string>> = {
  "FUZZ-01": "test/fuzz/fuzz.test.ts",
  "FUZZ-02": "test/fuzz/kernel.test.ts",
  "FUZZ-03": "test/fuzz/fuzz.test.ts",
  "FUZZ-04": "test/fuzz/kernel.test.ts",
  "FUZZ-05": "test/fuzz/fuzz.test.ts",
  "FUZZ-06": "test/fuzz/fuzz.test.ts",
  "FUZZ-07": "test/fuzz/fuzz.test.ts",
};

test("every listed case has a test, and every test belongs to a listed case", () => {
  expect(Object.keys(proven)).toEqual(faults("fuzz-property").map(({ id }) => id));
});

test.each(Object.entries(proven))("%s is tested in %s", (id, file) => {
  for (const place of [file, "test/soak/fuzz.test.ts"])
    expect(readFileSync(new URL(`../../${place}`, import.meta.url), "utf8")).toContain(id);
});
