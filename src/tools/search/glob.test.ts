import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { glob } from "./glob.ts";

const files = {
  ".gitignore": "dist\n",
  "src/b.ts": "",
  "src/a.ts": "",
  "src/deep/c.ts": "",
  "dist/x.ts": "",
  "README.md": "",
};

test.each([
  [{ pattern: "*.ts" }, "src/a.ts\nsrc/b.ts\nsrc/deep/c.ts"],
  [{ pattern: "src/*.ts" }, "src/a.ts\nsrc/b.ts"],
  [{ pattern: "*.ts", path: "src/deep" }, "src/deep/c.ts"],
  [{ pattern: "deep/*", path: "src" }, "src/deep/c.ts"],
  [{ pattern: "{README,LICENSE}*" }, "README.md"],
  [{ pattern: "*.ts", path: "dist" }, "dist/x.ts"],
  [{ pattern: "*.py" }, '[no file matches "*.py"]'],
])("glob finds the files for %j", async (input, paths) => {
  expect(await callTool(glob, tempFolder(files), input)).toEqual(paths);
});

test("glob never leaves the folder", async () => {
  const cwd = tempFolder(files);
  symlinkSync("/", join(cwd, "root"));
  await expect(callTool(glob, cwd, { pattern: "../*" })).rejects.toThrow('"../*" leads out of the folder');
  await expect(callTool(glob, cwd, { pattern: "*", path: "root" })).rejects.toThrow("outside of the working folder");
  expect(await callTool(glob, cwd, { pattern: "root/**" })).toEqual('[no file matches "root/**"]');
});

test("glob matches a hostile pattern in a short time", async () => {
  const cwd = tempFolder({ ["a".repeat(200)]: "" });
  const start = performance.now();
  await callTool(glob, cwd, { pattern: `${"*a".repeat(90)}b` });
  expect(performance.now() - start).toBeLessThan(30_000); // trying every way of matching would never end
});
