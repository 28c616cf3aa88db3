import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { defectIn, defects, play, simulatorIn } from "./planted.ts";

test.each(defects)("SIM-03: the code that the planted defect $name replaces still exists in src", (defect) => {
  expect(defectIn(defect)).not.toBe("");
});

test("SIM-03: a journal that is not synced is found; the soak tests the other defects", async () => {
  const { broken } = await play(await simulatorIn(tempFolder(), defects[0]), { first: 1, count: 200 });
  expect(broken?.join("\n")).toContain("was told and is lost");
});
