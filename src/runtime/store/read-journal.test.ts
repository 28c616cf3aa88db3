import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { note, openedJournal, writtenJournal } from "../../../test/support/journal-notes.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { machineDisk } from "../disk/disk.ts";
import { followJournal } from "./follow-journal.ts";
import { readJournal } from "./read-journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { newerFormat } from "./record-format.ts";

describe("records of other versions", () => {
  test("LOG-08: records of a newer version are kept, skipped and reported", async () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const strange = { ...note(1), type: "node.teleported", whither: "elsewhere" } as unknown as KeptEvent;
    writeFileSync(join(folder, JOURNAL_FILE), encodeLine(strange, 1) + encodeLine(note(2), 1));
    const { journal } = await openedJournal(folder);
    expect(journal.problems).toEqual([
      "Records of types that only a newer version of subcrew knows were skipped: node.teleported.",
    ]);
    expect(await journal.read()).toEqual([strange, note(2)]);
    await journal.close();
    expect(readFileSync(join(folder, JOURNAL_FILE), "utf8")).toContain('"whither":"elsewhere"');
  });

  test("a first record of a newer format is read in any form; a later record that claims one is damage", async () => {
    const other = (seq: number): string =>
      encodeLine({ ...note(seq), type: "run.started", format: 2, plan: 3 } as unknown as KeptEvent, 1);
    const first = tempFolder();
    writeFileSync(join(first, JOURNAL_FILE), other(1));
    expect(newerFormat((await readJournal(first)).events[0])).toContain("format 2");
    const later = tempFolder();
    writeFileSync(join(later, JOURNAL_FILE), encodeLine(note(1), 1) + other(2) + encodeLine(note(3), 1));
    await expect(readJournal(later)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });

  test("CLK-03: timestamps that run backwards do not change the order", async () => {
    const folder = tempFolder();
    await writtenJournal(folder, 4);
    expect((await readJournal(folder)).events.map(({ seq, at }) => [seq, at])).toEqual([
      [1, 999],
      [2, 998],
      [3, 997],
      [4, 996],
    ]);
  });
});

test("other work continues while a long journal is read", async () => {
  const folder = tempFolder();
  const notes = Array.from({ length: 60 }, (_, at) => note(at + 1, "x".repeat(100_000)));
  writeFileSync(join(folder, JOURNAL_FILE), notes.map((event) => encodeLine(event, 1)).join(""));
  let turns = 0;
  let reading = true;
  const count = (): void => {
    turns += 1;
    if (reading) setImmediate(count);
  };
  let counted = 0;
  const read = readJournal(folder, {
    ...machineDisk,
    openToRead: async (path) => {
      const bytes = await machineDisk.readFile(path);
      count(); // the journal has been read; from here on it is only decoded
      let at = 0;
      const read = async (into: Buffer, offset: number, length: number): Promise<{ bytesRead: number }> => {
        const bytesRead = bytes.copy(into, offset, at, at + length);
        at += bytesRead;
        return { bytesRead };
      };
      return { read, close: async () => {} };
    },
  }).then((contents) => {
    counted = turns;
    reading = false;
    return contents;
  });
  expect((await read).events).toEqual(notes);
  expect(counted).toBeGreaterThanOrEqual(5);
});

describe("a journal that is followed from a number on", () => {
  const notes = (from: number, to: number, epoch = 1): string =>
    Array.from({ length: to - from + 1 }, (_, at) => encodeLine(note(from + at, "x".repeat(10_000)), epoch)).join("");
  const bytesRead = (): number =>
    Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? Number.NaN);
  const until = async (last: KeptEvent | undefined): Promise<boolean> => last !== undefined;

  test.each([
    ["of one owner", notes(1, 900), ["released.1.json"]],
    [
      "with a late end",
      notes(1, 890, 1) + notes(891, 900, 2) + notes(891, 896, 1),
      ["released.1.json", "released.2.json"],
    ],
    ["without claims", notes(1, 10, 1) + notes(5, 899, 2) + notes(11, 12, 1) + notes(900, 900, 2), []],
  ])("gives only the records after it: %s", async (_, text, claims) => {
    const folder = tempFolder({ [JOURNAL_FILE]: text, ...Object.fromEntries(claims.map((name) => [name, "{}"])) });
    for (const after of [1, 450, 889, 893, 898]) {
      const seen: number[] = [];
      for await (const { seq } of followJournal(folder, { after, until, signal: AbortSignal.timeout(10_000) }))
        seen.push(seq);
      expect(seen).toEqual(Array.from({ length: 900 - after }, (__, at) => after + 1 + at));
    }
  });

  test.runIf(process.platform === "linux")("is not read before them", async () => {
    const folder = tempFolder({ [JOURNAL_FILE]: notes(1, 900), "released.1.json": "{}" });
    const before = bytesRead();
    for await (const { seq } of followJournal(folder, { after: 895, until, signal: AbortSignal.timeout(10_000) }))
      expect(seq).toBeGreaterThan(895);
    expect(bytesRead() - before).toBeLessThan(1_500_000);
  });
});
