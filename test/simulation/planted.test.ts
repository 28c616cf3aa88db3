import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { defectIn, defects, play, simulatorIn } from "./planted.ts";

test.each(defects)("SIM-03: $name still has its place in the program", (defect) => {
  expect(defectIn(defect)).not.toBe("");
});

test("SIM-03: a journal that is not synced is found; the soak looks for the others", async () => {
  const { broken } = await play(await simulatorIn(tempFolder(), defects[0]), { first: 1, count: 200 });
  expect(broken?.join("\n")).toContain("was told and is lost");
});
