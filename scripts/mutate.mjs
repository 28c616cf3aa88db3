// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { explained } from "./mutants-explained.mjs";
import { changeOf, covers, mutantsOf } from "./mutants.mjs";
import { suites } from "./mutate-suites.mjs";
import { root } from "./step.mjs";

/**
 * Shows which faults in the central files no test notices: makes one small change at a time in a copy of the project
 * (a negated condition, a removed statement, another constant, a removed `await`) and runs the tests of that file.
 * Prints every change whose tests pass all the same, unless scripts/mutants-explained.mjs says why no test can notice it.
 * The copy holds all changes of a file, each behind a switch, and one process loads the tests once and tries them with
 * one switch after the other (test/support/mutants.ts).
 *
 *     npm run mutate                              15 changes per file, those of seed 1
 *     npm run mutate -- --count 40 --seed 7 loop  the files whose path contains "loop"
 *     npm run mutate -- --line 120 loop/loop.ts   every change of one line
 *     npm run mutate -- --all --quick journal     every change, only with the tests that run first
 *     npm run mutate -- --all --results FILE      appends each result to FILE, and skips the changes that FILE says were noticed
 */

/**
 * A process that begins no test for this time (in milliseconds) counts as hung, and the change that it was trying
 * counts as noticed.
 */
const HANGS = 60_000;

/** How long a process may take to load the tests, in milliseconds; long enough for a busy machine. */
const LOADS = 600_000;

/** @typedef {import("./mutants.mjs").Mutant} Mutant */
/** @typedef {{ id?: number, noticed?: string | null, error?: string, begun?: number, spoiled?: number, passed?: string, ms?: number, unusable?: string }} Line */
/** @typedef {{ file: string, version: string, id: number, noticed: string | null }} Result */

const { values: given, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "15" },
    seed: { type: "string", default: "1" },
    line: { type: "string" },
    all: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    results: { type: "string" },
  },
});
const files = Object.entries(suites).filter(
  ([file]) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
);
const earlier = resultsIn(given.results);
const copy = copyOfProject();
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
let total = 0;
let unnoticed = 0;
for (const [file, tests] of files) await mutate(file, given.quick ? tests.slice(0, 1) : tests);
console.log(`${total} changes, ${unnoticed} neither noticed nor explained`);
if (unnoticed > 0) process.exitCode = 1;

/** @param {string} file @param {string[][]} tests */
async function mutate(file, tests) {
  const start = performance.now();
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const { mutants, write } = mutantsOf(text);
  const version = versionOf(mutants);
  const chosen = chosenOf(mutants);
  writeFileSync(path, write(chosen));
  /** @type {Map<number, string | null>} */
  const decided = new Map();
  for (const one of earlier)
    if (one.file === file && one.version === version && one.noticed !== null) decided.set(one.id, one.noticed);
  const decide = (/** @type {number} */ id, /** @type {string | null} */ noticed, error = "") => {
    decided.set(id, noticed);
    if (given.results) appendFileSync(given.results, `${JSON.stringify({ file, version, id, noticed, error })}\n`);
  };
  /** @type {Record<string, number>} */
  const passed = {};
  const learn = (/** @type {Line[]} */ lines) => {
    for (const { id, noticed, error } of lines)
      if (id !== undefined && !decided.has(id)) decide(id, noticed ?? null, error);
    for (const one of lines) if (one.passed !== undefined) passed[one.passed] = one.ms ?? 0;
  };
  /** Tries changes with these tests; false: the tests cannot be loaded. */
  const tried = async (/** @type {Omit<Work, "passed">} */ work) => {
    const lines = await attempt({ ...work, passed }, learn);
    const begun = lines.findLast((one) => one.begun !== undefined)?.begun;
    const isOpen = begun !== undefined && work.ids.includes(begun) && !decided.has(begun);
    // The process ended or hung while it was trying this change, unless it says that the change has to be tried again.
    if (isOpen && lines.at(-1)?.spoiled !== begun) decide(begun, "hangs or ends the process");
    return begun !== undefined;
  };
  const isExplained = (/** @type {Mutant} */ one) =>
    explained.some((known) => known.file === file && covers(known, one));
  for (const paths of tests) {
    // Loading tests takes long: the later test files are loaded only for changes that the earlier files have not
    // noticed.
    for (const one of chosen) if (decided.get(one.id) === null && !isExplained(one)) decided.delete(one.id);
    for (;;) {
      const ids = chosen.filter((one) => !one.atLoad && !decided.has(one.id)).map(({ id }) => id);
      if (ids.length === 0) break;
      if (!(await tried({ paths, ids }))) throw new Error(`The tests of ${file} cannot be run`);
    }
    const loading = chosen.filter((one) => one.atLoad && !decided.has(one.id));
    if (loading.length > 0) await attempt({ paths, ids: [], passed }, learn); // shows which tests pass without a change
    for (const { id } of loading) if (!(await tried({ paths, ids: [id], always: id }))) decide(id, "cannot be loaded");
  }
  writeFileSync(path, text);

  const survivors = chosen.filter(({ id }) => decided.get(id) === null).toSorted((a, b) => a.id - b.id);
  const open = survivors.filter((one) => !isExplained(one));
  total += chosen.length;
  unnoticed += open.length;
  for (const one of open) console.log(`${file}:${one.line}: ${changeOf(one)}`);
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  console.log(
    `${file}: ${chosen.length} of ${mutants.length} changes tried, ${survivors.length - open.length} explained, ${open.length} not noticed, ${minutes} min`,
  );
}

/** @param {Mutant[]} mutants @returns {Mutant[]} */
function chosenOf(mutants) {
  if (given.line !== undefined) return mutants.filter((one) => one.line === Number(given.line));
  return given.all ? mutants : sample(mutants, Number(given.count), Number(given.seed));
}

/** Names the code of a file by its changes, so that results still count after a comment was rewritten. @param {Mutant[]} mutants */
function versionOf(mutants) {
  const code = JSON.stringify(mutants.map(({ was, to }) => [was, to]));
  return createHash("sha256").update(code).digest("hex").slice(0, 16);
}

/** The results of earlier passes; the last line may be cut off. @param {string | undefined} file @returns {Result[]} */
function resultsIn(file) {
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((one) => JSON.parse(one));
}

/** @typedef {{ paths: string[], ids: number[], always?: number, passed: Record<string, number> }} Work */

/**
 * Tries changes in one process, until it is done, ends or hangs; `learn` gets what is known so far.
 *
 * @param {Work} work
 * @param {(lines: Line[]) => void} learn
 * @returns {Promise<Line[]>}
 */
function attempt({ paths, ...work }, learn) {
  const report = join(copy, "mutants.jsonl");
  writeFileSync(report, "");
  const given = { ...work, report, files: [...new Set(paths.flatMap(testFilesIn))] };
  writeFileSync(
    join(copy, "test", "mutants.test.ts"),
    `import { tryMutants } from "./support/mutants.ts";\ntryMutants(${JSON.stringify(given)});\n`,
  );
  const args = ["node_modules/vitest/vitest.mjs", "run", "--experimental.fsModuleCache", "test/mutants.test.ts"];
  // In a process group of its own: a worker process in an endless loop does not notice that the test run has ended.
  const child = spawn(process.execPath, args, { cwd: copy, stdio: "ignore", detached: true });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {} // the group has ended
  };
  process.once("exit", kill);
  const lines = () =>
    readFileSync(report, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((one) => /** @type {Line} */ (JSON.parse(one)));
  return new Promise((resolve, reject) => {
    let size = 0;
    const start = Date.now();
    const watch = setInterval(() => {
      const now = statSync(report);
      if (now.size !== size) learn(lines());
      size = now.size;
      // The process touches the report when it begins a test.
      const isHung = size === 0 ? Date.now() - start > LOADS : Date.now() - now.mtimeMs > HANGS;
      if (isHung) kill();
    }, 1_000);
    child.once("error", reject);
    child.once("close", () => {
      clearInterval(watch);
      process.off("exit", kill);
      kill();
      const told = lines();
      learn(told);
      for (const { unusable, error } of told)
        if (unusable) console.log(`  left out, since it fails beside the others: ${unusable}: ${error}`);
      resolve(told);
    });
  });
}

/** The test files of a path of the table. @param {string} path @returns {string[]} */
function testFilesIn(path) {
  const full = join(copy, path);
  if (!statSync(full).isDirectory()) return [full];
  return readdirSync(full, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(full, name));
}

/** Copies the files that git tracks, and links the installed packages. */
function copyOfProject() {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-mutate-"));
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const generated = [
    "src/embedded.ts",
    "src/core/text/version.ts",
    "src/formats/bundled-agents.ts",
    "src/core/vocabulary/runner-rows.ts",
    "dist",
  ];
  for (const name of [...listed.stdout.split("\0"), ...generated]) {
    if (name === "" || !existsSync(join(root, name))) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/**
 * Picks a number of changes; the same seed gives the same changes.
 *
 * @param {Mutant[]} mutants @param {number} many @param {number} from
 * @returns {Mutant[]}
 */
function sample(mutants, many, from) {
  let state = from;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  const rest = [...mutants];
  const chosen = Array.from({ length: Math.min(many, rest.length) }, () => rest.splice(next() % rest.length, 1)[0]);
  return /** @type {Mutant[]} */ (chosen);
}
