// @ts-check
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCrew } from "../../dist/index.js";
import { createFolderStore } from "../../dist/runtime/store/folder-store.js";
import { encodeLines } from "../../dist/runtime/store/journal-line.js";
import { above, inTurns, middle, shown, taken } from "./measure.mjs";

const RUNS = 1_000;
/** The number of unfinished runs; `ps` reads those and the five newest of the others. */
const OPEN = 5;
const LIMIT = 2;

/** @param {number} n */
const idOf = (n) => `run_${n.toString(36).padStart(12, "0")}`;

/** @param {number} n @returns {any[]} */
function recordsOf(n) {
  const common = { run: idOf(n), at: 1_700_000_000_000 + n };
  const plan = { nodes: { a: { kind: "task", task: { prompt: "x" } } }, output: "a" };
  const note = (/** @type {number} */ at) => ({ ...common, seq: at, path: "a", type: "note", text: "x".repeat(400) });
  return [
    { ...common, seq: 1, path: "", type: "run.started", plan, cwd: "/", version: "0" },
    ...Array.from({ length: 40 }, (_, at) => note(at + 2)),
    ...(n < OPEN
      ? []
      : [{ ...common, seq: 42, path: "", type: "run.ended", outcome: { status: "ok", output: "done" } }]),
  ];
}

/**
 * Measures the work of `subcrew ps` with 1,000 stored runs, compared with a bare listing of their last records.
 *
 * @type {import("./measure.mjs").Part}
 */
export async function listing({ root, rounds }) {
  const home = mkdtempSync(join(root, "runs-"));
  const store = createFolderStore(home);
  for (let n = 0; n < RUNS; n += 1) {
    mkdirSync(store.place(idOf(n)), { recursive: true });
    writeFileSync(join(store.place(idOf(n)), "journal.jsonl"), encodeLines(recordsOf(n), 1));
    writeFileSync(join(store.place(idOf(n)), "released.1.json"), "{}"); // as the process of a run leaves it
  }
  const { kept } = createCrew({ cwd: home, home, discover: false, env: {} });
  const raw = await inTurns(
    {
      "last records": () => taken(async () => Promise.all((await store.list()).map((run) => store.last(run)))),
      ps: () =>
        taken(async () => {
          if ((await kept.list({ ended: 5 })).length !== OPEN + 5) throw new Error("the listing is wrong");
        }),
    },
    { rounds: rounds * 3, warmUp: 2 },
  );
  const [bare, ours] = [middle(raw["last records"] ?? []), middle(raw["ps"] ?? [])];
  const ratio = ours.wall / bare.wall;
  const failed = above("ps, x bare listing", ratio, LIMIT);
  return {
    title: "`ps` over 1,000 stored runs: milliseconds",
    how: `medians of ${rounds * 3}; the state of the five unfinished runs and of the five newest others is computed from their events`,
    columns: ["", "wall", "cpu", "x bare", ""],
    rows: [
      ["ps", shown(ours.wall), shown(ours.cpu), ratio.toFixed(2), failed.length > 0 ? "FAIL" : "PASS"],
      ["last records", shown(bare.wall), shown(bare.cpu), "1.00", ""],
    ],
    failed,
    raw,
    table: [
      {
        what: "`ps` over 1,000 stored runs",
        ours: `${ratio.toFixed(2)}x, ${shown(ours.wall)} ms`,
        peers: `bare listing of the last records ${shown(bare.wall)} ms`,
        goal: "<= 2x",
        met: failed.length === 0,
      },
    ],
  };
}
