import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { isProgram } from "./is-program.ts";

test("a program is a file with the right to execute it; a folder of that name is none", () => {
  const folder = tempFolder({ run: "#!/bin/sh\n", data: "text\n" });
  chmodSync(join(folder, "run"), 0o755);
  mkdirSync(join(folder, "tool"));
  const found = ["run", "data", "tool", "missing"].filter((name) => isProgram(join(folder, name)));
  expect(found).toEqual(["run"]);
});
