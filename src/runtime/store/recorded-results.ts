import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { IndexedResult, ReusableResults } from "../../core/run/run-store.ts";
import { machineDisk } from "../disk/disk.ts";
import { decodeBytes, epochOf, LINE_END } from "./journal-line.ts";
import { JOURNAL_FILE, runFolder, runsFolder } from "./layout.ts";
import { linesIn } from "./read-journal.ts";
import { RUN_ID } from "./run-id.ts";

/** The reuse keys of the tasks in the journal of one run, valid while the journal has this size. */
type LookedAt = Readonly<{ size: number; hasEnded: boolean; entries: readonly IndexedResult[] }>;

/** How many journals are read at once. */
const TOGETHER = 16;

/**
 * Finds reusable results by their keys in the journals of all runs. Runs write nothing extra for this: each reader
 * reads a journal once, and again only when it has grown. Of most journals only a few records are decoded.
 */
export function openResults(home: string): ReusableResults["reusable"] {
  const looked = new Map<string, LookedAt>();
  const look = async (run: string): Promise<void> => {
    const known = looked.get(run);
    if (known?.hasEnded) return;
    const folder = runFolder(home, run);
    const size = (await stat(join(folder, JOURNAL_FILE)).catch(() => undefined))?.size;
    if (size === undefined || size === known?.size) return;
    const found = await resultsIn(folder, run).catch(() => undefined); // a damaged journal has no results
    looked.set(run, { size, ...(found ?? { hasEnded: false, entries: [] }) });
  };
  return async (key) => {
    const runs = (await readdir(runsFolder(home)).catch(() => [])).filter((name) => RUN_ID.test(name));
    for (let at = 0; at < runs.length; at += TOGETHER) await Promise.all(runs.slice(at, at + TOGETHER).map(look));
    return runs
      .flatMap((run) => (looked.get(run)?.entries ?? []).filter((entry) => entry.key === key))
      .toSorted((one, other) => one.at - other.at);
  };
}

/**
 * The bytes with which the field for a reuse key begins in a record. They cannot occur in texts, where quotes are
 * escaped.
 */
const FIELD = Buffer.from('"reuse":"');

async function resultsIn(folder: string, run: string): Promise<Omit<LookedAt, "size">> {
  const entries: { seq: number; entry: IndexedResult }[] = [];
  let hasEnded = false;
  let epoch = 0;
  for await (const { bytes } of linesIn(folder, machineDisk)) {
    let field = bytes.indexOf(FIELD);
    let last: Buffer | undefined;
    for (let start = 0; start < bytes.length; ) {
      const end = lineEnd(bytes, start);
      const line = bytes.subarray(start, end);
      const writer = epochOf(line);
      const isResult = field >= start && field < end;
      if (isResult) field = bytes.indexOf(FIELD, end);
      const record = writer > epoch || (writer === epoch && isResult) ? decodeBytes(line) : undefined;
      if (record && writer > epoch) {
        epoch = writer;
        while ((entries.at(-1)?.seq ?? 0) >= record.event.seq) entries.pop(); // late records of the former owner
      }
      const { event } = record ?? {};
      if (isResult && event?.type === "agent.resolved" && event.reuse !== undefined)
        entries.push({ seq: event.seq, entry: { key: event.reuse, run, path: event.path, at: event.at } });
      if (writer >= epoch || writer === 0) last = line; // a damaged line counts: the run may have continued
      start = end + 1;
    }
    if (last) hasEnded = last.includes('"type":"run.ended"');
  }
  return { entries: entries.map(({ entry }) => entry), hasEnded };
}

function lineEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_END, from);
  return end < 0 ? bytes.length : end;
}
