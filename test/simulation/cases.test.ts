import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults } from "../conformance/harness.ts";

/** The test of each fault of the area "simulation". */
const proven: Readonly<Record<string, string>> = {
  "SIM-01": "test/simulation/seeds.test.ts",
  "SIM-02": "test/simulation/seeds.test.ts",
  "SIM-03": "test/soak/simulation.test.ts",
  "SIM-04": "test/simulation/orders.test.ts",
  "SIM-05": "test/simulation/orders.test.ts",
  "SIM-06": "test/simulation/orders.test.ts",
};

test("every listed case has a test, and every test belongs to a listed case", () => {
  expect(Object.keys(proven)).toEqual(faults("simulation").map(({ id }) => id));
});

test.each(Object.entries(proven))("%s is tested in %s", (id, file) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")).toContain(id);
});
