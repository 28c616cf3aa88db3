import { openRegular } from "../disk/regular-file.ts";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { filePathOf } from "./file-path.ts";
import { JOURNAL_FILE } from "./journal.ts";
import { decodeBytes, LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";

/** The store of runs: one folder each, never in the workspace. */
export type Store = Readonly<{
  folder(run: string): string;
  /** The index file of reusable results. */
  index: string;
  /** Keeps a node's full output; returns the file. */
  keep(run: string, path: string, text: string): Promise<string>;
  /** Creates the output file before the node has ended, with a placeholder text. */
  reserve(run: string, path: string): Promise<string>;
  /** The file in which that is, and the folder of all of them. */
  output(run: string, path: string): string;
  outputs(run: string): string;
  /** The run that an id, a name, or the beginning of an id means; of several with one name, the newest. */
  find(word: string): Promise<string>;
  /** Every run, newest first. */
  list(): Promise<readonly string[]>;
}>;

/** A store below a home folder; what tasks hand in goes to this disk. */
export function createStore(home: string, disk: Disk = machineDisk): Store {
  const runs = join(home, "runs");
  const list = async (): Promise<string[]> => {
    const names = await readdir(runs).catch(() => []);
    const dated = await Promise.all(
      names
        .filter((name) => RUN_ID.test(name))
        .map(async (name) => ({ name, at: (await stat(join(runs, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
    );
    return dated.toSorted((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
  };
  const outputs = (run: string): string => join(runs, run, "outputs");
  const output = (run: string, path: string): string => join(outputs(run), `${filePathOf(path)}.md`);
  return {
    output,
    outputs,
    folder: (run) => join(runs, run),
    index: join(home, "results.jsonl"),
    list,
    keep: async (run, path, text) => {
      const file = output(run, path);
      await disk.mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeAtomic(file, text.endsWith("\n") ? text : `${text}\n`, disk);
      return file;
    },
    reserve: async (run, path) => {
      const file = output(run, path);
      await reserveFile(file, `"${path}" of ${run} has no result yet. See \`subcrew status ${run}\`.`);
      return file;
    },
    find: async (word) => {
      const all = await list();
      const exact = all.find((run) => run === word);
      if (exact !== undefined) return exact;
      for (const run of all) if ((await nameIn(join(runs, run))) === word) return run;
      const matching = all.filter((run) => run.startsWith(word) || run.startsWith(`run_${word}`));
      if (matching.length === 1 && word.length >= MIN_PREFIX) return matching[0]!;
      if (matching.length > 1)
        throw new CrewError(
          "UNKNOWN_RUN",
          `"${word}" matches ${matching.length} runs.`,
          `Give more of the id: ${matching.slice(0, 3).join(", ")}.`,
        );
      throw new CrewError(
        "UNKNOWN_RUN",
        `There is no run "${word}".`,
        all.length > 0 ? `The newest one is ${all[0]}.` : "There are no runs yet.",
      );
    },
  };
}

/** Creates a placeholder file, so that a reported path always exists. */
export async function reserveFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${text}\n`, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** The name of a run, from the first line of its journal. */
async function nameIn(folder: string): Promise<string | undefined> {
  const event = await firstEvent(folder);
  return event?.type === "run.started" ? event.name : undefined;
}

/** Reads only the first event of a journal. */
export async function firstEvent(folder: string): Promise<KeptEvent | undefined> {
  return readWidening(folder, "start", (bytes, isWhole) => {
    const end = bytes.indexOf(LINE_END);
    if (end < 0 && !isWhole) return "unknown";
    return decodeBytes(end < 0 ? bytes : bytes.subarray(0, end))?.event;
  });
}

/** Reads only the last complete event of a journal. */
export async function lastEvent(folder: string): Promise<KeptEvent | undefined> {
  return readWidening(folder, "end", lastWithin);
}

/** Reads more and more of a journal, from its start or its end, until `find` knows what it looks for. */
async function readWidening(
  folder: string,
  from: "start" | "end",
  find: (bytes: Buffer, isWhole: boolean) => KeptEvent | undefined | "unknown",
): Promise<KeptEvent | undefined> {
  const file = await openRegular(join(folder, JOURNAL_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    for (let span = TAIL_BYTES; span <= MOST_RECORD_BYTES; span *= 16) {
      const bytes = Buffer.alloc(Math.min(size, span));
      await file.read(bytes, 0, bytes.length, from === "start" ? 0 : size - bytes.length);
      const found = find(bytes, span >= size);
      if (found !== "unknown") return found;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** The last record in the end of a journal; a torn one behind it does not count. */
function lastWithin(bytes: Buffer, isWhole: boolean): KeptEvent | undefined | "unknown" {
  for (let end = bytes.length, torn = true; end > 0; torn = false) {
    const start = bytes.lastIndexOf(LINE_END, end - 1) + 1;
    if (start === 0 && !isWhole) return "unknown";
    const event = decodeBytes(bytes.subarray(start, end))?.event;
    if (event || (!torn && end > start)) return event;
    end = start - 1;
  }
  return undefined;
}

const TAIL_BYTES = 1 << 16;

const RUN_ID = /^run_[a-z0-9]{12}$/;
const MIN_PREFIX = 3;

/** A new id, made of the bytes it is given. */
export function runId(random: () => number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return `run_${Array.from({ length: 12 }, () => letters[Math.floor(random() * letters.length)]).join("")}`;
}
