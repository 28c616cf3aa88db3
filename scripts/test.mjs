// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "./build.mjs";
import { checkCoverage } from "./coverage.mjs";
import { install } from "./install.mjs";
import { root, tools } from "./step.mjs";

/** @typedef {import("./coverage.mjs").Report} Report */
/** @typedef {Report["testResults"][number]} TestFile */
/** @typedef {{ clean: boolean, report: Report, skips: Array<{ test: string, reason: string }> }} Ran */

const args = process.argv.slice(2);
const folder = join(root, ".cache", "vitest");

/** Up to this number of failed files are run again; if more fail, it is not a coincidence. */
const SECOND_LOOK_FILES = 3;

/** The number of slowest files listed at the end. */
const SLOWEST_FILES = 10;

/**
 * Tests talk to this machine alone, and so need no certificate authorities of the company. Node reads the file of the
 * first variable at each start, which takes 70 ms of processor time for the list of a Linux distribution.
 */
const noAuthorities = { NODE_EXTRA_CA_CERTS: undefined, SSL_CERT_FILE: undefined };

const { passed, failed, skips, unsteady, slowest } = await everything();
if (slowest.length > 1) {
  console.log("\nslowest files:");
  for (const line of slowest) console.log(`  ${line}`);
}
if (skips.length > 0) {
  console.log("\nskipped:");
  for (const { test, reason } of skips) console.log(`  ${test}\n    ${reason}`);
}
if (unsteady.length > 0) {
  console.log("\nunsteady: failed beside the others and passed alone. Find out why:");
  for (const test of unsteady) console.log(`  ${test}`);
}
console.log(`\n${passed} passed, ${failed} failed${skips.length > 0 ? `, ${skips.length} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;

/** @returns {Promise<{ passed: number, failed: number, skips: Ran["skips"], unsteady: string[], slowest: string[] }>} */
async function everything() {
  const nothing = { passed: 0, failed: 1, skips: [], unsteady: [], slowest: [] };
  if (!install() || !(await build())) return nothing;
  rmSync(folder, { recursive: true, force: true });

  const ran = vitest("all", args);
  if (!ran) return nothing;
  const second = args.length === 0 ? secondLook(ran) : undefined;
  const report = second ? merged(ran.report, second.report) : ran.report;

  const files = report.testResults;
  let failed = failuresOf(files).length + files.filter(brokeBeforeItsTests).length;
  if (!(second ?? ran).clean && failed === 0) failed = 1; // an error outside of any test
  if (args.length === 0) failed += coverage(report);
  const still = new Set(failuresOf(files));
  return {
    passed: files.flatMap((file) => file.assertionResults).filter((test) => test.status === "passed").length,
    failed,
    skips: ran.skips,
    slowest: slowestOf(ran.report.testResults),
    unsteady: second ? failuresOf(ran.report.testResults).filter((name) => !still.has(name)) : [],
  };
}

/**
 * Runs a few failed files again, one at a time, because a test can fail on an overloaded machine although the product
 * works. A file whose worker process died counts as failed; vitest reports it as passed.
 */
function secondLook(/** @type {Ran} */ { clean, report }) {
  const again = report.testResults
    .filter((file) => file.status === "failed" || file.assertionResults.some(isUnfinished))
    .map((file) => file.name);
  if (clean || again.length === 0 || again.length > SECOND_LOOK_FILES) return undefined;
  console.log(`\nA second look, one file at a time: ${again.map((file) => relative(root, file)).join(", ")}`);
  return vitest("again", ["--maxWorkers=1", ...again]);
}

/** @param {Report} first @param {Report} second @returns {Report} */
function merged(first, second) {
  const later = new Map(second.testResults.map((file) => [file.name, file]));
  return { ...first, testResults: first.testResults.map((file) => later.get(file.name) ?? file) };
}

/** @param {string} name @param {string[]} more @returns {Ran | undefined} */
function vitest(name, more) {
  const reportFile = join(folder, name, "report.json");
  const skipsFile = join(folder, name, "skips.json");
  mkdirSync(join(folder, name), { recursive: true });
  const reporters = ["default", "json", join(root, "scripts", "skips.mjs")].map((each) => `--reporter=${each}`);
  // The three projects of the configuration share compiled modules; the folder is deleted before each run.
  const modules = ["--experimental.fsModuleCache", `--experimental.fsModuleCachePath=${join(folder, "modules")}`];
  const run = spawnSync(
    process.execPath,
    [join(root, tools.vitest), "run", ...reporters, `--outputFile.json=${reportFile}`, ...modules, ...more],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...noAuthorities, SUBCREW_TEST_SKIPS: skipsFile, SUBCREW_TEST_BUILT: "1" },
    },
  );
  if (!existsSync(reportFile)) return undefined;
  return {
    clean: run.status === 0,
    report: JSON.parse(readFileSync(reportFile, "utf8")),
    skips: existsSync(skipsFile) ? JSON.parse(readFileSync(skipsFile, "utf8")) : [],
  };
}

/**
 * True for a test that was running or waiting when the worker process of its file died.
 *
 * @param {TestFile["assertionResults"][number]} test
 */
function isUnfinished(test) {
  return test.status === "pending";
}

/** @param {TestFile[]} files @returns {string[]} */
function failuresOf(files) {
  return files.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === "failed" || isUnfinished(test))
      .map((test) => `${relative(root, file.name)} › ${[...test.ancestorTitles, test.title].join(" › ")}`),
  );
}

/** @param {TestFile[]} files @returns {string[]} */
function slowestOf(files) {
  return files
    .map(({ name, startTime, endTime }) => ({ name: relative(root, name), seconds: (endTime - startTime) / 1_000 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_FILES)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

/** @param {TestFile} file */
function brokeBeforeItsTests(file) {
  return file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed");
}

/**
 * @param {Report} report
 * @returns {number} how many failures to count: none, or one for the whole table
 */
function coverage(report) {
  const problems = checkCoverage(readFileSync(join(root, "docs", "coverage.md"), "utf8"), report, root);
  if (problems.length === 0) return 0;
  console.log(`\ndocs/coverage.md, ${problems.length} problems:`);
  for (const problem of problems) console.log(`  ${problem}`);
  return 1;
}
