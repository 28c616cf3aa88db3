import { join } from "node:path";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Journal } from "../../src/core/run/run-store.ts";
import { type Disk, machineDisk } from "../../src/runtime/disk/disk.ts";
import type { DiskFile } from "../../src/runtime/disk/open-file.ts";
import { type JournalOptions, openJournal } from "../../src/runtime/store/journal.ts";
import { JOURNAL_FILE } from "../../src/runtime/store/layout.ts";

/** An event of a journal. */
export const note = (seq: number, text = `fact ${seq}`): KeptEvent => ({
  seq,
  run: "run_1",
  path: "a",
  at: 1000 - seq,
  type: "note",
  text,
});

export type OpenedJournal = Readonly<{ journal: Journal; kept: KeptEvent[]; lost: Error[] }>;

export async function openedJournal(folder: string, options: JournalOptions = {}): Promise<OpenedJournal> {
  const kept: KeptEvent[] = [];
  const lost: Error[] = [];
  const listener = {
    kept: (events: readonly KeptEvent[]) => kept.push(...events),
    lost: (error: Error) => lost.push(error),
  };
  const journal = await openJournal(folder, listener, options);
  return { journal, kept, lost };
}

/** Writes a closed journal with this many notes; returns its file. */
export async function writtenJournal(folder: string, count: number, text?: string): Promise<string> {
  const { journal } = await openedJournal(folder);
  for (let seq = 1; seq <= count; seq += 1) journal.append(note(seq, text));
  await journal.close();
  return join(folder, JOURNAL_FILE);
}

/** The disk of this machine, with some functions of an open journal replaced. */
export const diskWith = (change: (file: DiskFile) => Partial<DiskFile>): Disk => ({
  ...machineDisk,
  open: async (path, ...given) => {
    const file = await machineDisk.open(path, ...given);
    return path.endsWith(JOURNAL_FILE) ? { ...file, ...change(file) } : file;
  },
});
