import { readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { note, openedJournal, writtenJournal } from "../../../test/support/journal-notes.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import type { DiskFile } from "../disk/open-file.ts";
import { openJournal } from "./journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { readForResume, readJournal } from "./read-journal.ts";

/** The disk of this machine with other calls of the open journal. */
const diskWith = (change: (file: DiskFile) => Partial<DiskFile>): Disk => ({
  ...machineDisk,
  open: async (path, ...given) => {
    const file = await machineDisk.open(path, ...given);
    return path.endsWith(JOURNAL_FILE) ? { ...file, ...change(file) } : file;
  },
});
const ignoring = { kept: (): void => {}, lost: (): void => {} };
const seqsIn = async (folder: string): Promise<number[]> => (await readJournal(folder)).events.map(({ seq }) => seq);

test("the records of an earlier writer are synced before the journal is open, and an empty journal is not", async () => {
  const folder = tempFolder();
  let syncs = 0;
  const disk = diskWith((file) => ({ sync: () => file.sync().finally(() => (syncs += 1)) }));
  await (await openJournal(folder, ignoring, { disk })).close();
  expect(syncs).toBe(0);
  await writtenJournal(folder, 2);
  await (await openJournal(folder, ignoring, { disk })).close();
  expect(syncs).toBe(1);
});

test("a journal that was read and has not changed since is not read again when it is opened", async () => {
  const folder = tempFolder();
  await writtenJournal(folder, 2);
  let reads = 0;
  const disk: Disk = {
    ...machineDisk,
    openToRead: (path) => {
      reads += 1;
      return machineDisk.openToRead(path);
    },
  };
  const known = await readForResume(folder);
  const journal = await openJournal(folder, ignoring, { disk, known });
  expect(await journal.read()).toEqual([note(1), note(2)]);
  await journal.close();
  expect(reads).toBe(0);
});

test("records whose sync failed are cut off before the failure is reported, and nothing more is written", async () => {
  const folder = tempFolder();
  const kept: KeptEvent[] = [];
  const lost: Error[] = [];
  let fails = false;
  let cut = false;
  const disk = diskWith((file) => ({
    datasync: () => (fails ? Promise.reject(new Error("no space is left")) : file.datasync()),
    truncate: async (length) => {
      for (let turn = 0; turn < 10; turn += 1) await setImmediate(); // a slow disk
      await file.truncate(length);
      cut = true;
    },
  }));
  const journal = await openJournal(
    folder,
    { kept: (events) => kept.push(...events), lost: (error) => lost.push(error) },
    { disk },
  );
  journal.append(note(1));
  await journal.durable();
  fails = true;
  journal.append(note(2));
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  expect(cut).toBe(true);
  expect(await seqsIn(folder)).toEqual([1]);

  fails = false;
  journal.append(note(3));
  journal.hasten?.();
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  expect([kept, lost.length, await seqsIn(folder)]).toEqual([[note(1)], 1, [1]]);
  await journal.close();
});

test("a closed journal has released its claim", async () => {
  const folder = tempFolder();
  const { journal } = await openedJournal(folder);
  expect(readdirSync(folder)).toContain("owner.1.json");
  await journal.close();
  expect(readdirSync(folder)).toContain("released.1.json");
  expect(readdirSync(folder)).not.toContain("owner.1.json");
});
