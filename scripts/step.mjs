// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {{ ok: boolean, output: string }} Done */

/** The folder of package.json. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * True in the file that node was started with.
 *
 * @param {string} url
 */
export const isMain = (url) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));

/**
 * Runs one step and reports its name and duration on stderr; its output is shown only when it fails.
 *
 * @param {string} name
 * @param {() => Done} work
 * @returns {boolean}
 */
export function step(name, work) {
  const start = performance.now();
  const done = work();
  report(name, done, start);
  return done.ok;
}

/**
 * @param {string} name
 * @param {Done} done
 * @param {number} start
 */
export function report(name, { ok, output }, start) {
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stderr.write(`${ok ? "ok  " : "FAIL"} ${name} (${seconds} s)\n`);
  if (!ok && output.trim() !== "") process.stderr.write(`${output.trimEnd()}\n`);
}

/**
 * Runs a script of this project, or a command of an installed package, without a shell.
 *
 * @param {string} file
 * @param {string[]} args
 * @returns {Done}
 */
export function runNode(file, args = []) {
  const run = spawnSync(process.execPath, [join(root, file), ...args], { cwd: root, encoding: "utf8" });
  return { ok: run.status === 0, output: `${run.stdout ?? ""}${run.stderr ?? ""}${run.error?.message ?? ""}` };
}

/**
 * Like `runNode`, but asynchronous, so that several can run in parallel.
 *
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<Done>}
 */
export function startNode(file, args = []) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, file), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }) },
    });
    let output = "";
    const keep = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve({ ok: false, output: error.message }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

/** The entry scripts of the installed tools. All of them are started with this node, on every platform. */
export const tools = {
  tsc: "node_modules/typescript/bin/tsc",
  vitest: "node_modules/vitest/vitest.mjs",
  biome: "node_modules/@biomejs/biome/bin/biome",
  oxlint: "node_modules/oxlint/bin/oxlint",
  knip: "node_modules/knip/bin/knip.js",
};
