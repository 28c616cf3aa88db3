// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Shows that the conformance cases can fail: changes each expected leaf in turn (the first of every case, then the
 * second of every case, ...) and lists the cases whose test passes all the same. After a build:
 *
 *     node test/conformance/mutate.mjs [file.test.ts ...]
 *
 * The harness makes the change, see SUBCREW_MUTATE_LEAF there, and notes which cases were changed.
 */

/** @typedef {{ test: string, file: string, area: string, name: string, leaf: string }} Change */
/** @typedef {{ fullName: string, title: string, status: string }} Result */
/** @typedef {{ testResults: Array<{ name: string, message: string, assertionResults: Result[] }> }} Report */

/** So many letters of a name are in the title of its test at least. */
const SHOWN = 30;

const root = join(import.meta.dirname, "../..");
const folder = join(root, ".cache", "conformance");
const given = process.argv.slice(2);
const all = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"));
let files = given.length > 0 ? given : all.map((name) => `test/conformance/${name}`);

let changed = 0;
/** @type {string[]} */
const unnoticed = [];
for (let leaf = 0; files.length > 0; leaf += 1) {
  const { changes, report } = run(leaf);
  changed += changes.length;
  const missed = missedBy(changes, report);
  for (const line of missed) console.log(line);
  unnoticed.push(...missed);
  files = [...new Set(changes.map(({ test }) => test))];
}
console.log(`${changed} expected values changed, ${unnoticed.length} not noticed`);
process.exitCode = unnoticed.length > 0 ? 1 : 0;

/** @param {number} leaf @returns {{ changes: Change[], report: Report }} */
function run(leaf) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const reportFile = join(folder, "report.json");
  spawnSync(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--experimental.fsModuleCache",
      "--maxWorkers=1",
      "--reporter=json",
      `--outputFile=${reportFile}`,
      ...files,
    ],
    { cwd: root, env: { ...process.env, SUBCREW_MUTATE_LEAF: String(leaf), SUBCREW_MUTATE_NOTES: folder } },
  );
  if (!existsSync(reportFile)) throw new Error("vitest wrote no report");
  const notes = readdirSync(folder).filter((name) => name.endsWith(".note"));
  // An area may be read twice by one file.
  const lines = new Set(notes.flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n")));
  const changes = [...lines].map((line) => /** @type {Change} */ (JSON.parse(line)));
  return { changes, report: JSON.parse(readFileSync(reportFile, "utf8")) };
}

/**
 * A case is noticed when a test with its name fails. Titles cut long names, and two areas of one file may share a name,
 * so as many tests have to fail as cases of that name were changed. Where two files run the same cases, one of them has
 * to notice.
 *
 * @param {Change[]} changes
 * @param {Report} report
 * @returns {string[]}
 */
function missedBy(changes, report) {
  /** @type {Map<string, Change[]>} */
  const groups = new Map();
  for (const change of changes) {
    const key = `${change.test}\n${change.name.slice(0, SHOWN)}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  const line = (/** @type {Change} */ { file, area, name, leaf }) => `${file} ${area} "${name}": ${leaf}`;
  /** @type {Set<string>} */
  const noticed = new Set();
  const missed = [...groups].flatMap(([key, same]) => {
    const [test = "", name = ""] = key.split("\n");
    const ran = report.testResults.find((result) => relative(root, result.name) === test);
    if (ran === undefined || ran.assertionResults.length === 0) return [`${test}: did not run: ${ran?.message ?? ""}`];
    const failed = ran.assertionResults.filter(
      ({ fullName, status }) => status === "failed" && fullName.includes(name),
    );
    if (failed.length < same.length) return same.map(line);
    for (const change of same) noticed.add(line(change));
    return [];
  });
  return [...new Set(missed)].filter((one) => !noticed.has(one));
}
