import { stat } from "node:fs/promises";
import type { IndexedResult, ReusableResults } from "../../core/run/run-store.ts";
import { appendRegularSync, readRegularFile } from "../disk/regular-file.ts";
import { isRecord } from "../../core/text/json.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/** The index of reusable results in a file. It only helps to find things: the journals have the results. */
export function openIndex(file: string): Readonly<{
  find: ReusableResults["reusable"];
  add: ReusableResults["addReusable"];
  trim(runs: ReadonlySet<string>): Promise<void>;
}> {
  let known: { of: string; entries: ReturnType<typeof readIndex> } | undefined;
  return {
    find: async (key) => {
      const { mtimeMs, size } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
      const of = `${mtimeMs} ${size}`;
      if (known?.of !== of) known = { of, entries: readIndex(file) };
      return (await known.entries).get(key) ?? [];
    },
    add: createIndexWriter(file),
    trim: (runs) => trimIndex(file, runs),
  };
}

/** Every entry of an index by its key, oldest first. */
export async function readIndex(file: string): Promise<ReadonlyMap<string, readonly IndexedResult[]>> {
  const entries = new Map<string, IndexedResult[]>();
  for (const line of await linesOf(file)) {
    const entry = entryIn(line);
    if (!entry) continue;
    const known = entries.get(entry.key);
    if (known) known.push(entry);
    else entries.set(entry.key, [entry]);
  }
  return entries;
}

/** Adds entries to an index: those that come in one turn are written together. */
function createIndexWriter(file: string): ReusableResults["addReusable"] {
  let waiting = "";
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    await Promise.resolve(); // until then others may come
    const lines = waiting;
    waiting = "";
    writing = undefined;
    try {
      appendRegularSync(file, lines);
    } catch {
      // The journals have the results; the next task does the work again.
    }
  };
  return (entry) => {
    waiting += `${JSON.stringify(entry)}\n`;
    return (writing ??= write());
  };
}

/** Removes entries of deleted runs and invalid lines. */
async function trimIndex(file: string, runs: ReadonlySet<string>): Promise<void> {
  const lines = await linesOf(file);
  const kept = lines.filter((line) => runs.has(entryIn(line)?.run ?? ""));
  if (kept.length < lines.length) await writeAtomic(file, kept.map((line) => `${line}\n`).join(""));
}

async function linesOf(file: string): Promise<string[]> {
  return (
    await readRegularFile(file)
      .then(String)
      .catch(() => "")
  )
    .split("\n")
    .filter((line) => line !== "");
}

function entryIn(line: string): IndexedResult | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return undefined;
    const { key, run, path, at } = value;
    return typeof key === "string" && typeof run === "string" && typeof path === "string" && typeof at === "number"
      ? { key, run, path, at }
      : undefined;
  } catch {
    return undefined; // half a line, or none
  }
}
