import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { completed } from "../../scripts/lockfile.mjs";

test("package-lock.json names no host and installs on every platform", () => {
  const lockfile = JSON.parse(readFileSync(join(import.meta.dirname, "../..", "package-lock.json"), "utf8"));
  expect(lockfile, "run: node scripts/lockfile.mjs").toEqual(completed(lockfile));
});

test("a lockfile gets the platform packages that npm left out, and loses its hosts", () => {
  const tool = { version: "2.0.0", dev: true, optionalDependencies: { "@tool/cli-linux-x64-musl": "2.0.0" } };
  const resolved = "https://registry.example/tool-2.0.0.tgz";
  expect(completed({ packages: { "node_modules/tool": { ...tool, resolved } } })).toEqual({
    packages: {
      "node_modules/@tool/cli-linux-x64-musl": {
        version: "2.0.0",
        cpu: ["x64"],
        dev: true,
        libc: ["musl"],
        optional: true,
        os: ["linux"],
      },
      "node_modules/tool": tool,
    },
  });
});
