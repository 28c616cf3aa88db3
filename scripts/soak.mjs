// @ts-check
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root, tools } from "./step.mjs";

/** @typedef {{ file: string, result: "passed" | "failed" | "too long", minutes: number }} Soaked */

const folder = join("test", "soak");

/** So many minutes a file may take: about twice what it takes on two quiet processors. A file that hangs does not keep the others from their turn. */
const MINUTES = 20;

/** @type {Readonly<Record<string, number>>} */
const LONGER = {
  "engine-chaos": 75,
  "foreign-tools": 40,
  fuzz: 90,
  hosts: 40,
  install: 30,
  "kill-sweep": 90,
  rounds: 40,
  simulation: 90,
};

/**
 * Runs every file of the soak, or those whose names contain one of these words, one after the other, each to its end or to the end of its time.
 *
 * @param {string[]} names
 * @returns {Promise<boolean>} whether all of them passed
 */
async function soak(names) {
  const files = allFiles().filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
  if (files.length === 0) console.log(`No file of ${folder} is named like ${names.join(" or ")}.`);
  /** @type {Soaked[]} */
  const done = [];
  for (const file of files) {
    console.log(`\n${file}, at most ${minutesFor(file)} minutes`);
    done.push(await one(file));
  }
  console.log("\nsoak:");
  for (const { file, result, minutes } of done)
    console.log(`  ${result.padEnd(8)} ${minutes.toFixed(1).padStart(5)} min  ${file}`);
  return done.length > 0 && done.every(({ result }) => result === "passed");
}

const allFiles = () =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".test.ts"))
    .toSorted((a, b) => minutesFor(a) - minutesFor(b) || (a < b ? -1 : 1))
    .map((name) => join(folder, name));

const minutesFor = (/** @type {string} */ file) => LONGER[/([^/\\]+)\.test\.ts$/.exec(file)?.[1] ?? ""] ?? MINUTES;

/**
 * @param {string} file
 * @returns {Promise<Soaked>}
 */
function one(file) {
  const began = performance.now();
  const args = [join(root, tools.vitest), "run", "--config", "vitest.soak.config.ts", file];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  return new Promise((resolve, reject) => {
    let tooLong = false;
    const end = setTimeout(() => {
      tooLong = true;
      child.kill("SIGKILL"); // the workers and what they started end with it
    }, minutesFor(file) * 60_000);
    child.once("error", reject);
    child.once("exit", (code) => {
      clearTimeout(end);
      const minutes = (performance.now() - began) / 60_000;
      resolve({ file, minutes, result: tooLong ? "too long" : code === 0 ? "passed" : "failed" });
    });
  });
}

process.exitCode = install() && (await build()) && (await soak(process.argv.slice(2))) ? 0 : 1;
