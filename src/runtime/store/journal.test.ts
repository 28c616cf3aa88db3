import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { note, openedJournal, writtenJournal } from "../../../test/support/journal-notes.ts";
import { readRecords } from "../../../test/support/read-records.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { Journal } from "../../core/run/run-store.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { openJournal } from "./journal.ts";
import { readJournal } from "./read-journal.ts";
import { JOURNAL_FILE } from "./layout.ts";

test("appended records are there after closing, in order, one per line", async () => {
  const folder = tempFolder();
  const file = await writtenJournal(folder, 5);
  expect((await readJournal(folder)).events).toEqual([1, 2, 3, 4, 5].map((seq) => note(seq)));
  expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(5);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("LOG-06: any text of a tool or model fits into one record and is read back unchanged", async () => {
  const folder = tempFolder();
  const hard = ["a\nb\r\nc", "\u2028\u2029", "\0\0", "\ud800 alone", "\ufffd", "x".repeat(1 << 20), "\u001b[31m", "😀"];
  const { journal } = await openedJournal(folder);
  hard.forEach((text, at) => journal.append(note(at + 1, text)));
  await journal.close();
  const { events, problems } = await readJournal(folder);
  expect(events.map((event) => event.type === "note" && event.text)).toEqual(hard);
  expect(problems).toEqual([]);
});

test("a record for which `hasten` is called just as the previous write ends is durable when the journal confirms it", async () => {
  for (let later = 0; later < 12; later += 1) {
    const kept: number[] = [];
    const acknowledged = new Promise<void>((resolve, reject) => {
      const hasten = async (journal: Journal): Promise<void> => {
        for (let tick = 0; tick < later; tick += 1) await Promise.resolve();
        journal.append(note(2));
        journal.hasten?.();
        for (let tick = 0; tick < 6; tick += 1) await Promise.resolve();
        await journal.durable();
      };
      const opening = openJournal(tempFolder(), {
        kept: (events) => {
          kept.push(...events.map(({ seq }) => seq));
          if (kept.length === 1) void opening.then(hasten).then(resolve, reject);
        },
        lost: reject,
      });
      opening.then((journal) => journal.append(note(1)), reject);
    });
    await acknowledged;
    expect({ later, kept }).toEqual({ later, kept: [1, 2] });
  }
});

test("after `hasten` a record is written at once, in order with the records appended before and after it", async () => {
  const folder = tempFolder();
  const { journal, kept } = await openedJournal(folder);
  const file = join(folder, JOURNAL_FILE);
  journal.append(note(1));
  journal.append(note(2));
  journal.hasten?.();
  expect(readRecords(readFileSync(file), folder).events.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(kept).toEqual([]); // a record is acknowledged only when it is durable
  journal.append(note(3));
  journal.hasten?.(); // called while the first two records are being written
  await journal.durable();
  expect(kept.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await journal.close();
  expect((await readJournal(folder)).events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test("events shortly after a sync share the next sync, which does not wait when a caller waits for one of them", async () => {
  const kept: number[] = [];
  let syncs = 0;
  const disk: Disk = {
    ...machineDisk,
    open: async (...given) => {
      const file = await machineDisk.open(...given);
      return { ...file, datasync: () => file.datasync().finally(() => (syncs += 1)) };
    },
  };
  const listener = { kept: (events: readonly KeptEvent[]) => void kept.push(events.length), lost: () => {} };
  const journal = await openJournal(tempFolder(), listener, { disk });
  for (let round = 1; round <= 5; round += 1) {
    for (let seq = 1; seq <= 4; seq += 1) {
      journal.append(note(seq));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await journal.durable();
  }
  expect(kept.reduce((sum, count) => sum + count)).toBe(20);
  expect(syncs).toBeLessThanOrEqual(7); // one sync per round, and some more if a slow machine pauses between two rounds
  journal.append(note(5));
  // the record is written although no caller waits for it
  await vi.waitFor(() => expect(kept.reduce((sum, count) => sum + count)).toBe(21));
  await journal.close();
});

describe("only one owner writes", () => {
  test("records that a replaced owner appends are ignored", async () => {
    const folder = tempFolder();
    writeFileSync(
      join(folder, JOURNAL_FILE),
      encodeLine(note(1), 1) + encodeLine(note(2), 3) + encodeLine(note(2, "late"), 1) + encodeLine(note(3), 3),
    );
    const { events, problems } = await readJournal(folder);
    expect(events).toEqual([note(1), note(2), note(3)]);
    expect(problems).toEqual([
      "1 records that a previous owner wrote after another process had taken over were ignored.",
    ]);
  });

  test("a new owner writes with a higher epoch than any record, also when the claim files are missing", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, JOURNAL_FILE), encodeLine(note(1), 7));
    const { journal } = await openedJournal(folder);
    journal.append(note(2));
    await journal.close();
    expect((await readJournal(folder)).events).toHaveLength(2);
    expect((await readJournal(folder)).epoch).toBe(8);
  });

  test("a replaced owner acknowledges nothing more and does not change the journal", async () => {
    const folder = tempFolder();
    const { journal, kept, lost } = await openedJournal(folder);
    journal.append(note(1));
    await journal.durable();
    writeFileSync(join(folder, "owner.2.json"), "{}");
    journal.append(note(2));
    await expect(journal.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
    expect(kept).toEqual([note(1)]);
    expect(lost).toHaveLength(1);
    await journal.close();
    expect((await readJournal(folder)).events).toEqual([note(1)]);
  });

  test("LOG-11: temporary files of a dead process are deleted by the next owner", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "outputs", "a"), { recursive: true });
    const draft = join(folder, "outputs", "a", ".0123456789abcdef.tmp");
    writeFileSync(draft, "half");
    await writtenJournal(folder, 1);
    expect(existsSync(draft)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
