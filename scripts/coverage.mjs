// @ts-check
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { isMain, root } from "./step.mjs";

/**
 * The parts of vitest's JSON report that are used.
 *
 * @typedef {{ fullName: string, ancestorTitles: string[], title: string, status: string }} Test
 * @typedef {{ testResults: Array<{ name: string, status: string, startTime: number, endTime: number, assertionResults: Test[] }> }} Report
 * @typedef {{ item: string, what: string, where: string, test: string }} Row
 */

/** The number of items of each of the five systems whose behaviour subcrew covers. */
const systems = { "000": 57, "001": 34, "002": 58, "003": 63, "004": 45 };

/** Matches the note of an item of the coverage page that is not implemented, or that users cannot reach yet; the note says what is missing. */
const open = /^open: \S/;

/**
 * Lists the problems of docs/coverage.md: an item that is missing or listed twice, a row without a test, a test that
 * is not in the report or did not pass. Empty when there are none.
 *
 * @param {string} markdown
 * @param {Report} report
 * @param {string} folder where the paths of the document start
 * @returns {string[]}
 */
export function checkCoverage(markdown, report, folder) {
  const rows = rowsOf(markdown);
  const files = new Map(report.testResults.map((file) => [pathIn(folder, file.name), file.assertionResults]));
  return [...idProblems(rows), ...rows.flatMap((row) => rowProblems(row, files))];
}

/**
 * The table rows whose first cell is an item.
 *
 * @param {string} markdown
 * @returns {Row[]}
 */
export function rowsOf(markdown) {
  return markdown.split(/\r?\n/).flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [, item = "", what = "", where = "", test = ""] = cells;
    return /^\d{3}-\d{2}$/.test(item) ? [{ item, what, where, test }] : [];
  });
}

/** @param {Row[]} rows */
function idProblems(rows) {
  const problems = [];
  const seen = new Map();
  for (const { item } of rows) seen.set(item, (seen.get(item) ?? 0) + 1);
  for (const [system, count] of Object.entries(systems)) {
    for (let n = 1; n <= count; n++) {
      const item = `${system}-${String(n).padStart(2, "0")}`;
      const times = seen.get(item) ?? 0;
      if (times === 0) problems.push(`${item}: no row`);
      if (times > 1) problems.push(`${item}: ${times} rows`);
      seen.delete(item);
    }
  }
  for (const item of seen.keys()) problems.push(`${item}: there is no such item`);
  return problems;
}

/**
 * @param {Row} row
 * @param {ReadonlyMap<string, Test[]>} files
 * @returns {string[]}
 */
function rowProblems({ item, what, where, test }, files) {
  if (what === "") return [`${item}: says nothing`];
  if (open.test(test)) return where === "" ? [] : [`${item}: is open and names a source`];
  if (where === "") return [`${item}: does not say where it lives: run npm run docs`];
  return entriesOf(test).flatMap((entry) => entryProblem(entry, files).map((problem) => `${item}: ${problem}`));
}

/**
 * The tests that a cell names. A title may hold a semicolon, so a new entry starts only where a test file is named.
 *
 * @param {string} cell
 * @returns {Array<{ text: string, file: string, title: string }>}
 */
export function entriesOf(cell) {
  return cell.split(/;\s*(?=\S+\.test\.ts › )/).map((entry) => {
    const text = entry.trim();
    const [, file = "", title = ""] = /^(\S+\.test\.ts) › (.+)$/.exec(text) ?? [];
    return { text, file, title };
  });
}

/**
 * @param {ReturnType<typeof entriesOf>[number]} entry
 * @param {ReadonlyMap<string, Test[]>} files
 * @returns {string[]}
 */
function entryProblem({ text, file, title }, files) {
  if (file === "") return [`"${text}" is neither "open: …" nor "path/file.test.ts › title"`];
  const tests = files.get(file);
  if (tests === undefined) return [`${file} did not run`];
  const named = tests.filter((test) => namesOf(test).some((name) => name.includes(title)));
  if (named.length === 0) return [`${file} has no test "${title}"`];
  if (named.some((test) => test.status === "passed")) return [];
  return [`${file} › ${title} did not pass: ${named[0]?.status}`];
}

/**
 * The accepted spellings of a test title: a test inside of `describe` may be written with or without the arrows.
 *
 * @param {Test} test
 */
const namesOf = ({ fullName, ancestorTitles, title }) => [fullName, [...ancestorTitles, title].join(" › ")];

/**
 * @param {string} folder
 * @param {string} file
 */
const pathIn = (folder, file) => (isAbsolute(file) ? relative(folder, file) : file).split(sep).join("/");

if (isMain(import.meta.url)) {
  const reportFile = process.argv[2] ?? join(root, ".cache", "vitest", "all", "report.json");
  if (!existsSync(reportFile)) {
    process.stderr.write(`${reportFile} is missing: run npm test first\n`);
    process.exit(2);
  }
  const document = readFileSync(join(root, "docs", "coverage.md"), "utf8");
  const problems = checkCoverage(document, JSON.parse(readFileSync(reportFile, "utf8")), root);
  for (const problem of problems) console.log(problem);
  console.log(`${rowsOf(document).length} rows, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
