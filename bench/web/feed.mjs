// @ts-check
import { createFolderStore } from "../../dist/runtime/store/folder-store.js";
import { openJournal } from "../../dist/runtime/store/journal.js";

/**
 * A process that looks to the web page as if it executed a run: it owns the run and records 1,000 nodes and 10,000
 * events at once. After that, each line of its standard input is a number of seconds for which it records 200 events a
 * second. It prints `ready` and `done`.
 */
const [home = "", run = "", cwd = ""] = process.argv.slice(2);
const NODES = 1_000;
const LAYER = 50;
const EVENTS = 10_000;
const PER_SECOND = 200;
const EVERY_MS = 50;
/** The number of ended and of working nodes; the others wait. */
const ENDED = 600;
const WORKING = 200;

const journal = await openJournal(createFolderStore(home).place(run), {
  kept: () => {},
  lost: (error) => {
    throw error;
  },
});
let seq = 0;
/** @param {string} path @param {object} fact @param {number} at */
const emit = (path, fact, at = Date.now()) => {
  seq += 1;
  journal.append(/** @type {any} */ ({ seq, run, at, path, ...fact }));
};

const id = (/** @type {number} */ at) => `part-${String(at).padStart(4, "0")}`;
const prompt = (/** @type {number} */ at) => `Look into part ${at} of the sources and say what could be simpler`;
/**
 * The dependencies of a node. Nodes are in layers of 50; each needs one node of the previous layer, and every third a
 * second one.
 *
 * @param {number} at
 */
const needs = (at) =>
  at < LAYER
    ? []
    : [...new Set([at - LAYER, ...(at % 3 === 0 ? [at - LAYER - (at % LAYER) + ((at * 7) % LAYER)] : [])])].map(id);
const nodes = Object.fromEntries(
  Array.from({ length: NODES }, (_, at) => [
    id(at),
    { kind: "task", needs: needs(at), task: { agent: "explore", prompt: prompt(at) } },
  ]),
);
const model = "claude-sonnet-5";
const usage = { input: 900, output: 120, cacheRead: 4_000, cacheWrite: 0, turns: 1 };
const cost = { usd: 0.004, unpriced: 0 };

/** The repeated steps of a task: a turn with one call. */
const steps = /** @type {const} */ ([
  (/** @type {number} */ turn) => ({ type: "turn.started", turn, model }),
  (/** @type {number} */ turn) => ({
    type: "turn.ended",
    turn,
    text: `I look at file ${turn}.`,
    calls: [{ id: `c${turn}`, name: "read_file", input: { path: `src/file-${turn}.ts` } }],
    usage,
    cost,
  }),
  (/** @type {number} */ turn) => ({
    type: "tool.started",
    call: `c${turn}`,
    tool: "read_file",
    preview: `src/file-${turn}.ts`,
    effect: "read",
  }),
  (/** @type {number} */ turn) => ({
    type: "tool.ended",
    call: `c${turn}`,
    tool: "read_file",
    text: `export const value = ${turn};`,
    ms: 3,
    error: false,
  }),
]);
const failed = {
  type: "node.ended",
  outcome: { status: "failed", fault: { code: "NO_RESULT", message: "It did not work.", retryable: false } },
};
const begins = { type: "node.started", kind: "task", attempt: 2, agent: "explore", prompt: "Look again." };
/** The number of steps of each node. */
const taken = Array.from({ length: NODES }, () => 0);
/** @param {number} at @param {number} [when] */
const step = (at, when) => {
  const count = taken[at]++;
  emit(id(at), steps[count % steps.length](1 + Math.floor(count / steps.length)), when);
};

const began = Date.now() - 600_000;
emit(
  "",
  { type: "run.started", plan: { nodes, output: id(NODES - 1) }, name: "A thousand tasks", cwd, version: "0" },
  began,
);
const begun = ENDED + WORKING;
for (let at = 0; at < begun; at += 1)
  emit(
    id(at),
    { type: "node.started", kind: "task", attempt: 1, agent: "explore", prompt: prompt(at) },
    began + at * 300,
  );
for (let at = 0; seq < EVENTS - ENDED; at += 1) step(at % begun, began + 300_000 + at * 20);
for (let at = 0; at < ENDED; at += 1)
  emit(
    id(at),
    { type: "node.ended", outcome: { status: "ok", output: `Part ${at} is fine.` } },
    began + 500_000 + at * 50,
  );
await journal.durable();
process.stdout.write(`ready ${seq}\n`);

process.stdin.on("data", (chunk) => {
  const until = Date.now() + Number(chunk) * 1_000;
  let due = Date.now();
  let at = 0;
  const timer = setInterval(() => {
    for (; due <= Date.now(); due += 1_000 / PER_SECOND, at += 1) {
      const place = at % WORKING;
      // A task fails and restarts each second; the selected task continues.
      if (at % 200 === 50) emit(id(ENDED + 50 + (Math.floor(at / 200) % 50)), failed);
      else if (at % 200 === 51) emit(id(ENDED + 50 + (Math.floor(at / 200) % 50)), begins);
      else step(ENDED + place);
    }
    if (Date.now() < until) return;
    clearInterval(timer);
    process.stdout.write(`done ${seq}\n`);
  }, EVERY_MS);
});
process.stdin.on("end", () => void journal.close().then(() => process.exit(0)));
