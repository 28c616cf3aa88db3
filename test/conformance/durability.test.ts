import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faults } from "./harness.ts";

const journal = "src/runtime/store/journal.test.ts";
const damage = "src/runtime/store/journal-damage.test.ts";
const reading = "src/runtime/store/read-journal.test.ts";
const sample = "test/processes/runtime/resume/kill-sample.test.ts";
const state = "test/processes/runtime/store/state-folder.test.ts";
const resume = "test/processes/runtime/resume/resume.test.ts";
const owner = "test/processes/runtime/store/ownership.test.ts";
const faulty = "test/processes/runtime/store/io-faults.test.ts";

/** The test of each fault. */
const proven: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "event-log": {
    "LOG-01": sample,
    "LOG-02": damage,
    "LOG-03": damage,
    "LOG-04": damage,
    "LOG-05": damage,
    "LOG-06": journal,
    "LOG-07": state,
    "LOG-08": reading,
    "LOG-09": "test/soak/rounds.test.ts",
    "LOG-10": faulty,
    "LOG-11": journal,
    "LOG-12": state,
    "LOG-13": state,
  },
  "resume-ownership": {
    "RES-01": resume,
    "RES-02": resume,
    "RES-03": owner,
    "RES-04": owner,
    "RES-05": owner,
    "RES-06": owner,
    "RES-07": "test/crew/runs.test.ts",
    "RES-08": resume,
    "RES-09": "test/processes/runtime/resume/still-forbidden.test.ts",
    "RES-10": "test/processes/cli/launch/permissions.test.ts",
    "RES-11": sample,
    "RES-12": resume,
  },
  "io-faults": {
    "IO-01": faulty,
    "IO-02": faulty,
    "IO-03": faulty,
    "IO-04": state,
    "IO-05": state,
    "IO-06": "test/processes/cli/launch/json.test.ts",
  },
  clock: { "CLK-01": faulty, "CLK-02": owner, "CLK-03": reading },
};

describe.each(Object.entries(proven))("%s", (area, where) => {
  test("every listed case has a test, and every test belongs to a listed case", () => {
    expect(Object.keys(where)).toEqual(
      faults(area)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test.each(Object.entries(where))("%s is tested in %s", (id, file) => {
    const path = new URL(`../../${file}`, import.meta.url);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, "utf8")).toContain(`${id}:`);
  });
});
