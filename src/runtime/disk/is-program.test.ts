import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { isProgram } from "./is-program.ts";

test("a program is an executable file; a folder of that name is not a program", () => {
  const folder = tempFolder({ run: "#!/bin/sh\n", data: "text\n" });
  chmodSync(join(folder, "run"), 0o755);
  mkdirSync(join(folder, "tool"));
  const found = ["run", "data", "tool", "missing"].filter((name) => isProgram(join(folder, name)));
  expect(found).toEqual(["run"]);
});
