// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { root } from "./step.mjs";

/**
 * Shows which faults in the central files no test notices: makes one small change at a time in a copy of the project
 * (a negated condition, a removed statement, another constant, a removed `await`) and runs the suites of that file.
 * Prints every change whose suites pass all the same.
 *
 *     npm run mutate                              15 changes per file, those of seed 1
 *     npm run mutate -- --count 40 --seed 7 loop  the files whose path contains "loop"
 *     npm run mutate -- --line 120 loop/loop.ts   every change of one line
 *     npm run mutate -- --quick 1 journal         only with the tests that run first
 */

const execution = [
  ...["execution", "cancel-task", "lease-waiting", "approval", "messages", "faults-003", "review", "spawn-policy"].map(
    (name) => `test/runtime/execute/${name}.test.ts`,
  ),
  "test/runtime/run/stops.test.ts",
  "test/runtime/run/crash.test.ts",
  "src/runtime/execute/delegate.test.ts",
];
const turns = ["loop", "results", "events", "schemas", "limits"].map((name) => `test/runtime/loop/${name}.test.ts`);
const rights = ["modes", "bounds", "calls", "delegation-rights"].map((name) => `test/runtime/access/${name}.test.ts`);
const assigned = [
  "test/runtime/task/prompts.test.ts",
  "test/runtime/task/fork.test.ts",
  ...rights,
  ...turns,
  "test/models/registry/crew.test.ts",
];
const resuming = [
  "test/runtime/resume",
  "test/runtime/run/one-task.test.ts",
  "test/runtime/execute/approval.test.ts",
  "test/facades/subagent-task.test.ts",
  "test/crew/runs.test.ts",
];

/** The central files. For each: the tests that run first, and those that run if the first ones notice nothing. */
const suites = {
  "src/runtime/execute/execute.ts": [
    ["src/runtime/execute/execute.test.ts", ...execution.slice(0, 4)],
    [...execution.slice(4), ...resuming, "test/runtime/run/found-by-simulation.test.ts"],
  ],
  "src/core/schedule/decide.ts": [["src/core/schedule/decide.test.ts"], execution],
  "src/runtime/task/perform.ts": [
    ["src/runtime/task/perform.test.ts", "test/runtime/loop/loop.test.ts"],
    [...turns, ...resuming],
  ],
  "src/runtime/task/assign.ts": [["src/runtime/task/assign.test.ts"], assigned],
  "src/runtime/task/assign-agent.ts": [["src/runtime/task/assign.test.ts"], assigned],
  "src/runtime/task/assign-tools.ts": [["src/runtime/task/assign.test.ts"], [...assigned, "test/facades"]],
  "src/runtime/task/assign-access.ts": [
    ["src/runtime/task/assign.test.ts", ...rights],
    ["test/tools/tools-in-a-run.test.ts", ...assigned],
  ],
  "src/runtime/task/assign-model.ts": [
    ["src/runtime/task/assign.test.ts", "test/models/registry/crew.test.ts"],
    assigned,
  ],
  "src/runtime/task/assign-prompt.ts": [
    ["src/runtime/task/assign.test.ts", "test/runtime/task/prompts.test.ts"],
    assigned,
  ],
  "src/runtime/loop/loop.ts": [
    ["src/runtime/loop/loop.test.ts", "test/runtime/loop/loop.test.ts"],
    [...turns, "src/runtime/loop"],
  ],
  "src/runtime/loop/call-tool.ts": [
    ["src/runtime/loop/call-tool.test.ts", "test/conformance/permissions.test.ts"],
    [...rights, ...turns],
  ],
  "src/core/policy/permit.ts": [["src/core/policy"], [...rights, "src/runtime/task/assign.test.ts"]],
  "src/core/policy/judge.ts": [["src/core/policy"], rights],
  "src/core/policy/judge-call.ts": [["src/core/policy"], rights],
  "src/core/policy/judge-command.ts": [["src/core/policy"], [...rights, "test/conformance/shell-policy.test.ts"]],
  "src/runtime/store/journal.ts": [["src/runtime/store/journal.test.ts"], resuming],
  "src/runtime/store/journal-records.ts": [
    ["src/runtime/store/journal.test.ts", "src/runtime/store/record-format.test.ts"],
    ["test/processes/runtime/store", ...resuming],
  ],
  "src/runtime/store/journal-line.ts": [
    ["src/runtime/store/journal-line.test.ts"],
    ["src/runtime/store/journal.test.ts"],
  ],
  "src/runtime/resume/resume-run.ts": [resuming.slice(0, 2), ["test/processes/runtime/resume"]],
  "src/runtime/resume/continue-task.ts": [resuming.slice(0, 3), resuming.slice(3)],
  "src/runtime/resume/previous-runs.ts": [resuming.slice(0, 3), resuming.slice(3)],
  "src/runtime/resume/recorded-agent.ts": [
    ["src/runtime/resume/recorded-agent.test.ts", ...resuming.slice(0, 1)],
    resuming.slice(1),
  ],
  "src/runtime/resume/recorded-run.ts": [["src/runtime/resume/project-runs.test.ts"], ["test/runtime/resume"]],
  "src/runtime/resume/project-runs.ts": [
    ["src/runtime/resume/project-runs.test.ts", "test/tools/crew/history-tools.test.ts"],
    ["test/facades"],
  ],
  "src/runtime/resume/kept-images.ts": [["test/runtime/resume"], resuming],
  "src/runtime/resume/reuse-results.ts": [["test/runtime/resume/reuse.test.ts"], resuming],
};

/** The timeout of a suite, in milliseconds. A change that makes a suite hang counts as noticed. */
const HANGS = 240_000;

/** The replacement of each operator. @type {Record<string, string>} */
const operators = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/** @typedef {{ start: number, end: number, to: string }} Edit */
/** @typedef {any} AnyNode */

const { count, seed, line, quick, wanted } = asked(process.argv.slice(2));
const files = Object.entries(suites).filter(
  ([file]) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
);
const copy = copyOfProject();
let tried = 0;
let unnoticed = 0;
try {
  for (const [file, tests] of files) mutate(file, quick ? tests.slice(0, 1) : tests);
  console.log(`${tried} changes, ${unnoticed} not noticed`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** @param {string} file @param {string[][]} tests */
function mutate(file, tests) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const lineOf = (/** @type {Edit} */ { start }) => text.slice(0, start).split("\n").length;
  const all = editsOf(text);
  const edits = line === undefined ? sample(all, count, seed) : all.filter((edit) => lineOf(edit) === line);
  if (!tests.every(passes)) throw new Error(`The suites of ${file} fail without any change: ${tests.flat().join(" ")}`);
  for (const edit of edits) {
    writeFileSync(path, text.slice(0, edit.start) + edit.to + text.slice(edit.end));
    tried += 1;
    if (!tests.every(passes)) continue;
    unnoticed += 1;
    const was = text.slice(edit.start, edit.end).replace(/\s+/g, " ");
    console.log(
      `${file}:${lineOf(edit)}: ${was.slice(0, 100)} -> ${edit.to.replace(/\s+/g, " ").slice(0, 100) || "nothing"}`,
    );
  }
  writeFileSync(path, text);
  console.log(`${file}: ${edits.length} of ${all.length} changes tried`);
}

/** @param {readonly string[]} tests */
function passes(tests) {
  const run = spawnSync(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--bail=1",
      "--maxWorkers=1",
      "--no-isolate",
      "--experimental.fsModuleCache",
      ...tests,
    ],
    { cwd: copy, timeout: HANGS, killSignal: "SIGKILL", stdio: "ignore" },
  );
  return run.status === 0;
}

/** Copies the files that git tracks, and links the installed packages. */
function copyOfProject() {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-mutate-"));
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const generated = ["src/embedded.ts", "src/core/text/version.ts", "dist"];
  for (const name of [...listed.stdout.split("\0"), ...generated]) {
    if (name === "" || !existsSync(join(root, name))) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** All possible changes of a file, in order. @param {string} text @returns {Edit[]} */
function editsOf(text) {
  /** @type {Edit[]} */
  const edits = [];
  visit(parseAst(text, { lang: "ts" }), (node) => edits.push(...changesOf(node, text)));
  return edits.toSorted((a, b) => a.start - b.start);
}

/** @param {AnyNode} node @param {string} text @returns {Edit[]} */
function changesOf(node, text) {
  const said = (/** @type {AnyNode} */ { start, end }) => text.slice(start, end);
  const { start, end } = node;
  switch (node.type) {
    case "IfStatement":
    case "WhileStatement":
      return [{ start: node.test.start, end: node.test.end, to: `!(${said(node.test)})` }];
    case "ConditionalExpression":
      return [{ start: node.test.start, end: node.test.end, to: `!(${said(node.test)})` }];
    case "BinaryExpression":
    case "LogicalExpression": {
      const to = operators[node.operator];
      if (to === undefined) return [];
      const at = text.indexOf(node.operator, node.left.end);
      return [{ start: at, end: at + node.operator.length, to }];
    }
    case "ExpressionStatement":
      return node.directive === undefined ? [{ start, end, to: ";" }] : [];
    case "AwaitExpression":
      return [{ start, end, to: `(${said(node.argument)})` }];
    case "SpreadElement":
      return [{ start, end, to: "" }];
    case "Literal":
      if (typeof node.value === "boolean") return [{ start, end, to: String(!node.value) }];
      return typeof node.value === "number" ? [{ start, end, to: `${node.value + 1}` }] : [];
    case "ReturnStatement":
      return node.argument && said(node.argument) !== "undefined"
        ? [{ start, end, to: "return undefined as never;" }]
        : [];
    default:
      return [];
  }
}

/** @param {AnyNode} node @param {(node: AnyNode) => void} seen */
function visit(node, seen) {
  if (Array.isArray(node)) return node.forEach((one) => visit(one, seen));
  if (typeof node !== "object" || node === null) return;
  if (typeof node.type === "string") {
    if (/^(TS|Import)/.test(node.type) && !/^TS(As|NonNull|Satisfies)/.test(node.type)) return;
    seen(node);
  }
  for (const value of Object.values(node)) visit(value, seen);
}

/**
 * Picks a number of changes; the same seed gives the same changes.
 *
 * @param {Edit[]} edits @param {number} many @param {number} from
 */
function sample(edits, many, from) {
  let state = from;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  const rest = [...edits];
  const chosen = Array.from({ length: Math.min(many, rest.length) }, () => rest.splice(next() % rest.length, 1)[0]);
  return /** @type {Edit[]} */ (chosen);
}

/** @param {string[]} args */
function asked(args) {
  /** @type {Record<string, number>} */
  const numbers = {};
  const wanted = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word.startsWith("--")) numbers[word.slice(2)] = Number(args[(at += 1)]);
    else wanted.push(word);
  }
  return {
    count: numbers["count"] ?? 15,
    seed: numbers["seed"] ?? 1,
    line: numbers["line"],
    quick: numbers["quick"] === 1,
    wanted,
  };
}
