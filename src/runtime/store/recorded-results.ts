import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { IndexedResult, ReusableResults } from "../../core/run/run-store.ts";
import { machineDisk } from "../disk/disk.ts";
import { lastIn } from "./journal-ends.ts";
import { type DecodedLine, decodeBytes, LINE_END } from "./journal-line.ts";
import { JOURNAL_FILE, runFolder, runsFolder } from "./layout.ts";
import { linesIn } from "./read-journal.ts";
import { RUN_ID } from "./run-id.ts";
import { Takeovers } from "./takeovers.ts";

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
  const found: (DecodedLine & { entry: IndexedResult })[] = [];
  const takeovers = new Takeovers();
  let last: ReturnType<typeof lastIn>;
  for await (const { bytes, isEnd } of linesIn(folder, machineDisk)) {
    takeovers.scan(bytes);
    for (let at = bytes.indexOf(FIELD), end: number; at >= 0; at = bytes.indexOf(FIELD, end)) {
      end = lineEnd(bytes, at);
      const record = decodeBytes(bytes.subarray(bytes.lastIndexOf(LINE_END, at) + 1, end));
      const { event } = record ?? {};
      if (record && event?.type === "agent.resolved" && event.reuse !== undefined)
        found.push({ ...record, entry: { key: event.reuse, run, path: event.path, at: event.at } });
    }
    if (isEnd) last = lastIn(bytes, { isWhole: true, takeovers });
  }
  const valid = found.filter(({ event, epoch }) => !takeovers.isVoid(event.seq, epoch));
  const hasEnded = typeof last === "object" && last.events.at(-1)?.type === "run.ended";
  return { entries: valid.map(({ entry }) => entry), hasEnded };
}

function lineEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_END, from);
  return end < 0 ? bytes.length : end;
}
