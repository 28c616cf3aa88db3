// Replaces another tool's command: records how it was called, then prints the lines of its script in order.

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const name = basename(process.argv[1]);
const folder = dirname(process.argv[1]);
const script = JSON.parse(readFileSync(join(folder, `${name}.script.json`), "utf8"));
let input = "";
for await (const chunk of process.stdin) input += chunk;
const files = process.argv.flatMap((word, at) =>
  word === "--append-system-prompt" ? [process.argv[at + 1]] : (/^--admin-policy=(.*)$/.exec(word)?.slice(1) ?? []),
);
const rules = files.map((file) => readFileSync(file, "utf8")).join("");
writeFileSync(
  join(folder, `${name}.called.json`),
  JSON.stringify({ args: process.argv.slice(2), env: process.env, input, rules, cwd: process.cwd() }),
);

for (const step of script) {
  if ("line" in step)
    process.stdout.write(typeof step.line === "string" ? step.line : `${JSON.stringify(step.line)}\n`);
  if ("write" in step) writeFileSync(step.write, step.text);
  if ("say" in step) process.stderr.write(step.say);
  if ("child" in step) {
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" }).unref();
    appendFileSync(join(folder, "started"), "child\n");
  }
  if ("hang" in step) await new Promise((resolve) => setInterval(() => resolve, 1_000_000));
  if ("exit" in step) process.exit(step.exit);
}
