import { appendFileSync, copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { note, openedJournal, writtenJournal } from "../../../test/support/journal-notes.ts";
import { readRecords } from "../../../test/support/read-records.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { damageText, salvageRecords } from "./journal-records.ts";
import { readForResume, readJournal } from "./read-journal.ts";
import { JOURNAL_FILE } from "./layout.ts";

describe("an incomplete last record", () => {
  test("LOG-03: is cut off and reported, and the next record starts on a new line", async () => {
    const folder = tempFolder();
    const file = await writtenJournal(folder, 3);
    truncateSync(file, statSync(file).size - 7);
    const again = await openedJournal(folder);
    expect(again.journal.problems).toEqual([
      expect.stringMatching(/^The last record was incomplete after a crash and was discarded \(\d+ bytes\)\.$/),
    ]);
    again.journal.append(note(3, "new"));
    await again.journal.close();
    const { events, problems } = await readJournal(folder);
    expect(events).toEqual([note(1), note(2), note(3, "new")]);
    expect(problems).toEqual([]);
  });

  test.each(["\0".repeat(4096), `${"\0".repeat(100)}\n`, '{"crc":"'])(
    "may be zeros or a part of a record after a power cut (case %#)",
    async (rest) => {
      const folder = tempFolder();
      appendFileSync(await writtenJournal(folder, 2), rest);
      const { journal } = await openedJournal(folder);
      expect(journal.problems).toHaveLength(1);
      await journal.close();
      expect((await readJournal(folder)).problems).toEqual([]);
    },
  );
});

describe("damage before the end", () => {
  test("LOG-04: is reported with record and position, the journal is copied, and the run cannot be resumed", async () => {
    const folder = tempFolder();
    const file = await writtenJournal(folder, 1000);
    const bytes = readFileSync(file);
    bytes.fill(0x58, bytes.length / 2, bytes.length / 2 + 40);
    writeFileSync(file, bytes);
    const thrown = await openedJournal(folder).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      code: "RUN_DAMAGED",
      message: expect.stringMatching(/damaged at record 5\d\d\.$/),
      hint: expect.stringMatching(
        /^Look at byte \d+ of journal\.jsonl .*A copy of the damaged journal is in .*journal\.damaged\.jsonl\.$/,
      ),
    });
    expect(readFileSync(join(folder, "journal.damaged.jsonl"))).toEqual(bytes);
    expect(readFileSync(file)).toEqual(bytes);
    await expect(readForResume(folder)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });

  test.each([
    ["a record is missing", (lines: string[]) => lines.toSpliced(1, 1)],
    ["a record occurs twice", (lines: string[]) => [lines[0]!, lines[0]!, ...lines.slice(1)]],
    ["two records are swapped", (lines: string[]) => [lines[1]!, lines[0]!, lines[2]!]],
    ["the last record was changed", (lines: string[]) => [...lines.slice(0, 2), lines[2]!.replace("fact 3", "fact 4")]],
    ["a line end is missing", (lines: string[]) => [lines[0]! + lines[1]!, lines[2]!]],
    ["a hole is followed by records", (lines: string[]) => [lines[0]!, "\0\0\0", lines[2]!]],
  ])("%s", async (_, change) => {
    const folder = tempFolder();
    const file = await writtenJournal(folder, 3);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, `${change(lines).join("\n")}\n`);
    await expect(readJournal(folder)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });
});

describe("changes that editors and copies make to a journal do not matter", () => {
  const lines = [1, 2, 3].map((seq) => encodeLine(note(seq), 1));
  test.each([
    ["Windows line ends", lines.join("").replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${lines.join("")}`],
    ["a missing last line end", lines.join("").trimEnd()],
    ["all of these", `\ufeff${lines.join("").replaceAll("\n", "\r\n").trimEnd()}`],
  ])("%s", async (_, text) => {
    const folder = tempFolder({ [JOURNAL_FILE]: text });
    expect(await readJournal(folder)).toMatchObject({ events: [note(1), note(2), note(3)], problems: [] });
    const { journal } = await openedJournal(folder);
    expect(await journal.read()).toEqual([note(1), note(2), note(3)]);
    journal.append(note(4));
    await journal.close();
    expect(await readJournal(folder)).toMatchObject({ events: [1, 2, 3, 4].map((seq) => note(seq)), problems: [] });
  });
});

test("an incomplete last record is reported also when the claim files of earlier owners are missing", async () => {
  const folder = tempFolder({ [JOURNAL_FILE]: `${encodeLine(note(1), 7)}{"crc":"0000` });
  const { journal } = await openedJournal(folder);
  await journal.close();
  expect(journal.problems).toEqual([expect.stringContaining("was incomplete after a crash")]);
});

describe("the records before and after the damage in a journal are shown", () => {
  const lines = [1, 2, 3, 4, 5].map((seq) => encodeLine(note(seq), 1));
  const at = (line: number): number => lines.slice(0, line).join("").length;
  const length = lines[1]!.length;
  test.each([
    ["a changed byte", lines.with(1, lines[1]!.replace("fact 2", "fact !")), [1, 3, 4, 5], [at(1), length, 2, 2]],
    ["a hole", lines.with(1, `${"\0".repeat(length - 1)}\n`), [1, 3, 4, 5], [at(1), length, 2, 2]],
    ["two records in a hole", lines.toSpliced(1, 2, "\0".repeat(2 * length)), [1, 4, 5], [at(1), 2 * length, 2, 3]],
    ["a missing record", lines.toSpliced(1, 1), [1, 3, 4, 5], [at(1), 0, 2, 2]],
    ["a record that occurs twice", lines.toSpliced(2, 0, lines[1]!), [1, 2, 3, 4, 5], [at(2), length, 3, undefined]],
    [
      "a missing line end and a changed byte",
      lines.with(1, lines[1]!.replace('fact 2"', 'fact !"').trimEnd()),
      [1, 3, 4, 5],
      [at(1), length - 1, 2, 2],
    ],
    ["the first record", lines.with(0, lines[0]!.replace("fact 1", "fact !")), [2, 3, 4, 5], [0, at(1), 1, 1]],
    [
      "the last record",
      lines.with(4, lines[4]!.replace("fact 5", "fact !")),
      [1, 2, 3, 4],
      [at(4), length, 5, undefined],
    ],
  ] as const)("%s", (_, changed, seqs, [offset, bytes, first, last]) => {
    const read = salvageRecords(Buffer.from(changed.join("")));
    expect(read.events.map(({ seq }) => seq)).toEqual(seqs);
    expect(read.damage).toEqual([{ offset, bytes, records: [first, last] }]);
  });

  test("a lost newline loses no record", () => {
    const read = salvageRecords(Buffer.from(lines.join("").replace("\n", "")));
    expect(read.events).toHaveLength(5);
    expect(read.damage.map(damageText)).toEqual([`A line end is missing at byte ${at(1) - 1} of journal.jsonl.`]);
  });
});

/** A journal of about this many bytes, of records as a run writes them. */
async function sized(size: number): Promise<Buffer> {
  const folder = tempFolder();
  const lines: string[] = [];
  for (let seq = 1, total = 0; total < size; seq += 1) {
    const line = encodeLine(note(seq, `${"ä\u2028 ".repeat(seq % 20)}${seq}`), 1 + Math.floor(seq / 50));
    lines.push(line);
    total += Buffer.byteLength(line);
  }
  const file = join(folder, JOURNAL_FILE);
  writeFileSync(file, lines.join(""));
  copyFileSync(file, `${file}.whole`);
  return readFileSync(file);
}

test("LOG-02: cut at every byte of 64 KiB: exactly the complete records are read, and the dropped part is reported", async () => {
  const bytes = await sized(64 << 10);
  const whole = readRecords(bytes, "here");
  expect(bytes.length).toBeGreaterThanOrEqual(64 << 10);
  const ends = [0, ...Array.from(bytes.entries()).flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []))];
  let cut = 0;
  for (let length = 0, records = 0; length <= bytes.length; length += 1) {
    if (ends[records + 1] === length) records += 1;
    const lacksEnd = ends[records + 1] === length + 1; // only the newline of the last record is missing
    // Records far before the cut were already compared for earlier cuts; all records are compared only for cuts near
    // the end of a record.
    const seq =
      Math.min(Math.abs(length - ends[records]!), Math.abs(length - (ends[records + 1] ?? length))) <= 1
        ? 0
        : Math.max(0, records - 1);
    const { events, wholeBytes, tornBytes, problems } = readRecords(bytes.subarray(ends[seq], length), "here", {
      seq,
      epoch: 0,
    });
    const right = lacksEnd
      ? seq + events.length === records + 1 && ends[seq]! + wholeBytes === length && tornBytes === 0
      : seq + events.length === records &&
        ends[seq]! + wholeBytes === ends[records] &&
        ends[records]! + tornBytes === length;
    if (!right || problems.length !== (tornBytes > 0 ? 1 : 0))
      expect.fail(`cut at ${length}: ${events.length} records, ${problems.join()}`);
    cut += 1;
  }
  expect(cut).toBe(bytes.length + 1);
  expect(whole.events.length).toBeGreaterThanOrEqual(300);
});

test("LOG-05: a change of any byte of 2 KiB is detected", async () => {
  const bytes = await sized(2 << 10);
  const { events } = readRecords(bytes, "here");
  let noticed = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of [0x01, 0x80]) {
      bytes[at]! ^= bit;
      const read = outcomeOf(bytes);
      if (read === "damaged" || (read.problems.length > 0 && read.events.length < events.length)) noticed += 1;
      bytes[at]! ^= bit;
    }
  }
  expect(noticed).toBe(2 * bytes.length);
});

function outcomeOf(bytes: Buffer): "damaged" | ReturnType<typeof readRecords> {
  try {
    return readRecords(bytes, "here");
  } catch (error) {
    expect(error).toMatchObject({ code: "RUN_DAMAGED" });
    return "damaged";
  }
}
