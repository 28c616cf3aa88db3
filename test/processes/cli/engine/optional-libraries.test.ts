import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../support/temp-folder.ts";

const root = join(import.meta.dirname, "../../../..");

test("without the libraries of an engine other commands work, and an engine names the command that installs them", () => {
  const folder = tempFolder();
  for (const name of ["dist", "package.json"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  const run = (...args: string[]): { code: number | null; said: string } => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "dist/cli/main.js"), ...args], {
      env,
      cwd: folder,
      encoding: "utf8",
    });
    return { code: status, said: stdout + stderr };
  };
  expect(run("ps")).toMatchObject({ code: 0, said: expect.stringContaining("No runs") });
  for (const command of ["ps", "worker", "inbox"])
    expect(run(command, "--engine", "postgres://127.0.0.1:1/x")).toEqual({
      code: 2,
      said: expect.stringContaining("npm install pg @dbos-inc/dbos-sdk"),
    });
});
