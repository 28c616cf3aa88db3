// @ts-check
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createFolderStore } from "../../dist/runtime/store/folder-store.js";
import { encodeLines } from "../../dist/runtime/store/journal-line.js";

export const RUN = "run_bench0000000";

/**
 * Writes a journal of at least this size in bytes: nodes with turns whose text is 1,900 characters.
 *
 * @param {string} home @param {number} size
 */
export function writeJournal(home, size) {
  const store = createFolderStore(home);
  mkdirSync(store.place(RUN), { recursive: true });
  const file = join(store.place(RUN), "journal.jsonl");
  let seq = 0;
  let bytes = 0;
  const event = (/** @type {string} */ path, /** @type {object} */ fact) =>
    /** @type {any} */ ({ seq: ++seq, run: RUN, path, at: 1_700_000_000_000 + seq, ...fact });
  const nodes = Object.fromEntries(["a", "b"].map((id) => [id, { kind: "task", needs: [], task: { prompt: "x" } }]));
  const begin = event("", { type: "run.started", plan: { nodes, output: "a" }, cwd: "/", version: "0", limits: {} });
  appendFileSync(file, encodeLines([begin], 1));
  while (bytes < size) {
    const part = encodeLines(
      Array.from({ length: 1_000 }, () => event(seq % 2 === 0 ? "a" : "b", { type: "note", text: "x".repeat(1_900) })),
      1,
    );
    bytes += part.length;
    appendFileSync(file, part);
  }
  return { file, bytes };
}
