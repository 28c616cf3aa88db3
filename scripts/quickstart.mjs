// @ts-check
import { spawnSync } from "node:child_process";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root } from "./step.mjs";

const question = "Where is a plan turned into running tasks, and what cancels a node?";

if (install() && (await build())) {
  process.stderr.write(`run  subcrew run explore "${question}"\n\n`);
  const run = spawnSync(process.execPath, ["dist/cli/main.js", "run", "explore", question], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} else {
  process.exitCode = 1;
}
