// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { createCrew } from "../dist/index.js";
import { createFolderStore } from "../dist/runtime/store/folder-store.js";
import { encodeLines } from "../dist/runtime/store/journal-line.js";

/** What `subcrew ps` looks at may take at most this much of the time of a bare listing of the last records. */
const LIMIT = 2;
const RUNS = Number(process.argv[2] ?? 1_000);
const ROUNDS = 9;
/** Runs that have not ended; `ps` folds those, and the five newest of the others. */
const OPEN = 5;

const home = mkdtempSync(join(import.meta.dirname, ".runs-"));
const store = createFolderStore(home);

/** @param {number} n @returns {any[]} */
function recordsOf(n) {
  const run = idOf(n);
  const common = { run, at: 1_700_000_000_000 + n };
  const plan = { nodes: { a: { kind: "task", task: { prompt: "x" } } }, output: "a" };
  const outcome = { status: "ok", output: "done" };
  const notes = Array.from({ length: 40 }, (_, at) => ({
    ...common,
    seq: at + 2,
    path: "a",
    type: "note",
    text: "x".repeat(400),
  }));
  const ended = { ...common, seq: 42, path: "", type: "run.ended", outcome };
  return [
    { ...common, seq: 1, path: "", type: "run.started", plan, cwd: "/", version: "0" },
    ...notes,
    ...(n < OPEN ? [] : [ended]),
  ];
}

/** @param {number} n */
function idOf(n) {
  return `run_${n.toString(36).padStart(12, "0")}`;
}

/** @param {() => Promise<unknown>} work */
async function took(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const bare = async () => Promise.all((await store.list()).map((run) => store.last(run)));

try {
  for (let n = 0; n < RUNS; n += 1) {
    mkdirSync(store.place(idOf(n)), { recursive: true });
    writeFileSync(join(store.place(idOf(n)), "journal.jsonl"), encodeLines(recordsOf(n), 1));
  }
  const { kept } = createCrew({ cwd: home, home, discover: false, env: {} });
  const listed = async () => kept.list({ ended: 5 });
  await bare();
  if ((await listed()).length !== OPEN + 5) throw new Error("the listing is wrong");
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await took(bare);
    const ours = await took(listed);
    ratios.push({ bareMs: first, psMs: ours, ratio: ours / first });
  }
  const sorted = ratios.map(({ ratio }) => ratio).toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  for (const { bareMs, psMs, ratio } of ratios)
    console.log(`last records ${bareMs.toFixed(1)} ms, ps ${psMs.toFixed(1)} ms, ratio ${ratio.toFixed(2)}`);
  console.log(`${RUNS} runs: median ratio ${median.toFixed(2)} (limit ${LIMIT}), load ${loadavg()[0]?.toFixed(1)}`);
  if (median > LIMIT) process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
