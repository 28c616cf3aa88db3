// @ts-check
import { spawnSync } from "node:child_process";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root } from "./step.mjs";

const question = "Where is a plan turned into running tasks, and what cancels a node?";

const next = `
Next, in this folder:
  npx subcrew parallel explore="How are events folded?" explore="What is a mode?"
  npx subcrew plan race --agents explore,general "Where is the entry point?"
  npx subcrew runs
  npx subcrew --help
`;

if (install() && (await build())) {
  process.stderr.write(`run  subcrew run explore "${question}"\n\n`);
  const run = spawnSync(process.execPath, ["dist/cli/main.js", "run", "explore", question], {
    cwd: root,
    stdio: "inherit",
  });
  if (run.status === 0) process.stderr.write(next);
  process.exitCode = run.status ?? 1;
} else {
  process.exitCode = 1;
}
