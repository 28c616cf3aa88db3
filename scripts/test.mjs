// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { checkCoverage } from "./coverage.mjs";
import { install } from "./install.mjs";
import { root, tools } from "./step.mjs";

/** @typedef {import("./coverage.mjs").Report} Report */

const args = process.argv.slice(2);
const folder = join(root, ".cache", "vitest");
const reportFile = join(folder, "report.json");
const skipsFile = join(folder, "skips.json");

const outcome = await everything();
if (outcome.skips.length > 0) {
  console.log("\nskipped:");
  for (const { test, reason } of outcome.skips) console.log(`  ${test}\n    ${reason}`);
}
const skipped = outcome.skips.length > 0 ? `, ${outcome.skips.length} skipped` : "";
console.log(`\n${outcome.passed} passed, ${outcome.failed} failed${skipped}`);
process.exitCode = outcome.failed > 0 ? 1 : 0;

/** @returns {Promise<{ passed: number, failed: number, skips: Array<{ test: string, reason: string }> }>} */
async function everything() {
  const nothing = { passed: 0, failed: 1, skips: [] };
  if (!install()) return nothing;
  if (!(await build())) return nothing;

  const clean = vitest();
  if (!existsSync(reportFile)) return nothing;
  /** @type {Report} */
  const report = JSON.parse(readFileSync(reportFile, "utf8"));
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === "passed").length;
  let failed = tests.filter((test) => test.status === "failed").length;
  failed += report.testResults.filter(brokeBeforeItsTests).length;
  if (!clean && failed === 0) failed = 1; // an error outside of any test
  if (args.length === 0) failed += coverage(report);
  const skips = existsSync(skipsFile) ? JSON.parse(readFileSync(skipsFile, "utf8")) : [];
  return { passed, failed, skips };
}

function vitest() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const reporters = ["default", "json", join(root, "scripts", "skips.mjs")].map((name) => `--reporter=${name}`);
  const run = spawnSync(
    process.execPath,
    [join(root, tools.vitest), "run", ...reporters, `--outputFile.json=${reportFile}`, ...args],
    { cwd: root, stdio: "inherit", env: { ...process.env, SUBCREW_TEST_SKIPS: skipsFile } },
  );
  return run.status === 0;
}

/** @param {Report["testResults"][number]} file */
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
