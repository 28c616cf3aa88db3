import { describe, expect, test } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { note } from "../../../test/support/journal-notes.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { damageText, RecordReader, recordsInFile, salvageRecords, undamaged } from "./journal-records.ts";

const line = (seq: number, epoch = 1): string => encodeLine(note(seq), epoch);
const lines = (...seqs: number[]): string => seqs.map((seq) => line(seq)).join("");
const spoilt = (seq: number): string => line(seq).replace("fact", "FACT");
const newer = (seq: number, type: string): string => encodeLine({ ...note(seq), type } as unknown as KeptEvent, 1);
const seqsIn = (events: Iterable<KeptEvent>): number[] => Array.from(events, ({ seq }) => seq);
const read = (text: string, ...more: Parameters<typeof salvageRecords> extends [unknown, ...infer R] ? R : never) =>
  salvageRecords(Buffer.from(text), ...more);

describe("reading", () => {
  test("complete records: the size of the journal, the epoch of its last writer, and no problem", () => {
    const text = line(1, 1) + line(2, 3);
    expect(read(text)).toEqual({
      events: [note(1), note(2)],
      problems: [],
      wholeBytes: text.length,
      tornBytes: 0,
      endMissing: false,
      epoch: 3,
      damage: [],
    });
    expect(read("")).toMatchObject({ events: [], wholeBytes: 0, tornBytes: 0, epoch: 0, endMissing: false });
  });

  test("an incomplete end: cut off with its size, but kept where more may follow", () => {
    const [whole, torn] = [lines(1, 2), line(3).slice(0, 20)];
    expect(read(whole + torn)).toMatchObject({
      problems: ["The last record was incomplete after a crash and was discarded (20 bytes)."],
      wholeBytes: whole.length,
      tornBytes: 20,
      endMissing: false,
      damage: [],
    });
    expect(read(whole + torn, undefined, false)).toMatchObject({
      problems: [],
      tornBytes: 0,
      damage: [{ offset: whole.length, bytes: 20, records: [3, undefined] }],
    });
    expect(read(`${whole}x`).problems).toEqual([
      "The last record was incomplete after a crash and was discarded (1 bytes).",
    ]);
  });

  test("a record without its newline is complete", () => {
    const text = lines(1, 2).trimEnd();
    expect(read(text)).toMatchObject({
      events: [note(1), note(2)],
      wholeBytes: text.length,
      tornBytes: 0,
      endMissing: true,
      problems: [],
      damage: [],
    });
  });

  test("a hole with a newline is an incomplete end, unless a record follows it; a line without a hole is not", () => {
    const hole = "\0\0\0\n";
    expect(read(line(1) + hole)).toMatchObject({ tornBytes: 4, damage: [] });
    expect(read(`${line(1)}xyz\n`)).toMatchObject({ tornBytes: 0, damage: [{ bytes: 4, records: [2, undefined] }] });
    expect(read(line(1) + hole + line(3))).toMatchObject({ tornBytes: 0, damage: [{ bytes: 4, records: [2, 2] }] });
  });

  test("a part of a journal: its record numbers, its epoch and its position continue those of the part before it", () => {
    const before = { seq: 2, epoch: 2, offset: 500 };
    const text = line(3, 2) + spoilt(4) + line(5, 2);
    expect(read(text, before)).toMatchObject({
      events: [note(3), note(5)],
      wholeBytes: text.length,
      damage: [{ offset: 500 + line(3).length, bytes: line(4).length, records: [4, 4] }],
    });
    expect(read(line(3, 1), before)).toMatchObject({
      events: [],
      epoch: 2,
      problems: [expect.stringMatching(/^1 rec/)],
    });
    expect(read("", before)).toMatchObject({ wholeBytes: 0, epoch: 2 });
  });

  test("several parts: as if they were one", () => {
    const parts = [lines(1, 2), spoilt(3), spoilt(4), lines(5, 6), line(8), spoilt(9), "\0"];
    const reader = new RecordReader();
    for (const [at, part] of parts.entries()) reader.push(Buffer.from(part), at === parts.length - 1);
    const contents = reader.take();
    expect(contents).toEqual(read(parts.join("")));
    expect(contents).toMatchObject({
      tornBytes: 1,
      damage: [
        { offset: lines(1, 2).length, bytes: 2 * line(3).length, records: [3, 4] },
        { offset: lines(1, 2, 3, 4, 5, 6).length, bytes: 0, records: [7, 7] },
        { offset: lines(1, 2, 3, 4, 5, 6, 8).length, bytes: line(9).length, records: [9, undefined] },
      ],
    });
  });
});

describe("records of two owners", () => {
  const problem = (count: number): string =>
    `${count} records that a previous owner wrote after another process had taken over were ignored.`;

  test("records that the earlier owner wrote after the later one began are ignored, before and after the later one's records", () => {
    const text = line(1, 1) + line(2, 1) + line(3, 1) + line(2, 2) + line(4, 1) + line(3, 2);
    expect(read(text)).toMatchObject({
      events: [note(1), note(2), note(3)],
      epoch: 2,
      damage: [],
      problems: [problem(3)],
    });
  });

  test("an unfinished record of the earlier owner is ignored before a record of the later owner, wherever it was cut", () => {
    const unfinished = line(3, 1);
    for (let length = 1; length < unfinished.length; length++) {
      const text = `${lines(1, 2)}${unfinished.slice(0, length)}${line(3, 2)}${line(4, 2)}`;
      const { events, damage, epoch, problems, wholeBytes } = read(text);
      expect({ length, seqs: seqsIn(events), damage, epoch, wholeBytes }).toEqual({
        ...{ length, seqs: [1, 2, 3, 4], damage: [], epoch: 2, wholeBytes: text.length },
      });
      expect(problems).toEqual([
        "1 records that a previous owner wrote after another process had taken over were ignored.",
      ]);
    }
  });

  test("an unfinished record is damage before a record of the same owner, and where records are missing after it", () => {
    const unfinished = line(3, 1).slice(0, 40);
    expect(read(`${lines(1, 2)}${unfinished}${line(3, 1)}`).damage).toHaveLength(1);
    expect(read(`${lines(1, 2)}${unfinished}${line(4, 2)}`).damage).toMatchObject([{ records: [3, 3] }]);
    expect(read(`${lines(1, 2)}{"crc":"0x${line(3, 2)}`).damage).toHaveLength(1);
  });

  test("the later owner replaces records of an earlier part", () => {
    expect(read(line(2, 2) + line(3, 1) + line(3, 2), { seq: 3, epoch: 1, offset: 0 })).toMatchObject({
      events: [note(2), note(3)],
      epoch: 2,
      damage: [],
      problems: [problem(1)],
    });
  });

  test("the later owner may begin with the first record", () => {
    expect(read(line(1, 1) + line(1, 2))).toMatchObject({
      events: [note(1)],
      epoch: 2,
      damage: [],
      problems: [problem(1)],
    });
  });
});

describe("damage", () => {
  test("a record that occurs twice, or in the wrong place, is left out", () => {
    expect(read(lines(1, 2, 2, 3))).toMatchObject({
      events: [note(1), note(2), note(3)],
      damage: [{ offset: lines(1, 2).length, bytes: line(2).length, records: [3, undefined] }],
    });
    expect(seqsIn(read(lines(2, 1, 3)).events)).toEqual([2, 3]);
  });

  test("damaged lines that follow each other are one damaged part; damaged lines with a record between them are two", () => {
    const size = line(1).length;
    expect(read(line(1) + spoilt(2) + spoilt(3) + line(4)).damage).toEqual([
      { offset: size, bytes: 2 * size, records: [2, 3] },
    ]);
    expect(read(spoilt(1) + line(2) + spoilt(3) + line(4)).damage).toEqual([
      { offset: 0, bytes: size, records: [1, 1] },
      { offset: 2 * size, bytes: size, records: [3, 3] },
    ]);
  });

  test("records that are missing after a damaged line are counted with it", () => {
    const size = line(1).length;
    expect(read(line(1) + spoilt(2) + line(5)).damage).toEqual([{ offset: size, bytes: size, records: [2, 4] }]);
    expect(read(lines(1, 3) + spoilt(4) + line(5)).damage).toEqual([
      { offset: size, bytes: 0, records: [2, 2] },
      { offset: 2 * size, bytes: size, records: [4, 4] },
    ]);
  });

  test("a lost newline counts as damage of no bytes, and the records on both sides are read", () => {
    const size = line(1).length;
    expect(read(line(1).trimEnd() + lines(2, 3))).toMatchObject({
      events: [note(1), note(2), note(3)],
      damage: [{ offset: size - 1, bytes: 0, records: [2, 1] }],
    });
  });

  test("a record after a single damaged byte is read", () => {
    const size = line(1).length;
    expect(read(`${line(1)}x${line(2)}`)).toMatchObject({
      events: [note(1), note(2)],
      damage: [{ offset: size, bytes: 1, records: [2, undefined] }],
    });
  });

  test("an empty line is damage of one byte", () => {
    expect(read(`\n${line(1)}`)).toMatchObject({
      events: [note(1)],
      damage: [{ offset: 0, bytes: 1, records: [1, undefined] }],
    });
  });

  test("the start of a record in a text is not taken for a record", () => {
    const quoting = encodeLine(note(2, '{"crc":"'), 1).replace('\\"crc\\":\\"', '"crc":"');
    expect(read(line(1) + quoting + line(3)).damage).toEqual([
      { offset: line(1).length, bytes: quoting.length, records: [2, 2] },
    ]);
  });

  test("a journal that may be used is returned; a damaged journal is refused with record and place", () => {
    const whole = read(lines(1, 2));
    expect(undamaged(whole, "/runs/a", 99)).toBe(whole);
    expect(() => undamaged(read(line(1) + spoilt(2) + spoilt(3) + line(4)), "/runs/a", 99)).toThrow(
      expect.objectContaining({
        code: "RUN_DAMAGED",
        message: "The journal in /runs/a is damaged at record 2.",
        hint: `Look at byte ${line(1).length} of journal.jsonl (99 bytes); all records before it are intact.`,
      }),
    );
  });

  test.each([
    [{ offset: 9, bytes: 0, records: [3, 2] }, "A line end is missing at byte 9 of journal.jsonl."],
    [{ offset: 9, bytes: 0, records: [3, 3] }, "Missing at byte 9 of journal.jsonl: record 3."],
    [{ offset: 9, bytes: 0, records: [3, 5] }, "Missing at byte 9 of journal.jsonl: records 3 to 5."],
    [
      { offset: 9, bytes: 1, records: [3, undefined] },
      "journal.jsonl is damaged at byte 9 (1 bytes, record 3 and later ones); the records before and after it are shown.",
    ],
  ] as const)("the damage %j is described in words", (damage, text) => {
    expect(damageText(damage)).toBe(text);
  });
});

test("the report about a journal file lists damage first, then other problems", () => {
  const { events, problems } = recordsInFile(Buffer.from(`${line(1)}${spoilt(2)}${newer(3, "later")}{`));
  expect(seqsIn(events)).toEqual([1, 3]);
  expect(problems).toEqual([
    expect.stringContaining("is damaged at byte"),
    "The last record was incomplete after a crash and was discarded (1 bytes).",
    "Records of types that only a newer version of subcrew knows were skipped: later.",
  ]);
  expect(read(newer(1, "one") + newer(2, "two") + newer(3, "one")).problems).toEqual([
    "Records of types that only a newer version of subcrew knows were skipped: one, two.",
  ]);
});
