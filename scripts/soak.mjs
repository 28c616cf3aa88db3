// @ts-check
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root, tools } from "./step.mjs";

if (install() && (await build())) {
  const args = [join(root, tools.vitest), "run", "--config", "vitest.soak.config.ts", ...process.argv.slice(2)];
  const run = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  process.exitCode = run.status ?? 1;
} else {
  process.exitCode = 1;
}
