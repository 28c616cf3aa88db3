import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults } from "./harness.ts";

/** The test of each fault of a subcrew server, or the part of the product that will have it. */
const proven: Readonly<Record<string, string>> = {
  "SRV-01": "test/mcp/http.test.ts",
  "SRV-02": "test/mcp/http.test.ts",
  "SRV-03": "test/mcp/http.test.ts",
  "SRV-04": "test/mcp/http.test.ts",
  "SRV-05": "test/mcp/http.test.ts",
  "SRV-06": "test/mcp/http.test.ts",
  "SRV-07": "test/mcp/http.test.ts",
  "SRV-08": "test/mcp/http.test.ts",
  "SRV-09": "test/processes/cli/mcp/command.test.ts",
  "SRV-10": "test/a2a/server.test.ts",
  "SRV-11": "test/mcp/server.test.ts",
  "SRV-12": "test/mcp/http.test.ts",
  "SRV-13": "test/mcp/http.test.ts",
};

test("every listed case has a test, and every test belongs to a listed case", () => {
  expect(Object.keys(proven)).toEqual(
    faults("local-servers")
      .map(({ id }) => id)
      .toSorted(),
  );
});

test.each(Object.entries(proven).filter(([, place]) => !place.startsWith("later: ")))(
  "%s is tested in %s",
  (id, file) => {
    const path = new URL(`../../${file}`, import.meta.url);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, "utf8")).toContain(id);
  },
);
