import { join } from "node:path";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Journal } from "../../src/core/run/run-store.ts";
import { openJournal } from "../../src/runtime/store/journal.ts";
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

export async function openedJournal(folder: string): Promise<OpenedJournal> {
  const kept: KeptEvent[] = [];
  const lost: Error[] = [];
  const journal = await openJournal(folder, {
    kept: (events) => kept.push(...events),
    lost: (error) => lost.push(error),
  });
  return { journal, kept, lost };
}

/** Writes a closed journal with this many notes: its file. */
export async function writtenJournal(folder: string, count: number, text?: string): Promise<string> {
  const { journal } = await openedJournal(folder);
  for (let seq = 1; seq <= count; seq += 1) journal.append(note(seq, text));
  await journal.close();
  return join(folder, JOURNAL_FILE);
}
