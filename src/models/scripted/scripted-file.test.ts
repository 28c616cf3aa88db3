import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { createScriptReader } from "./scripted-file.ts";

test("a script that was missing is read once it is there, so that a worker does not fail every later task", async () => {
  const folder = tempFolder();
  const read = createScriptReader(folder);
  await expect(read("turns.json")).rejects.toMatchObject({ code: "BAD_FILE" });
  writeFileSync(join(folder, "turns.json"), JSON.stringify(["hello"]));
  expect(await read("turns.json")).toBeTypeOf("function");
});
