import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { Journal } from "../../core/run/run-store.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { damageText, salvageRecords } from "./journal-records.ts";
import { readRecords } from "../../../test/support/read-records.ts";
import { openJournal } from "./journal.ts";
import { readForResume, readJournal } from "./read-journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { encodeLine } from "../../../test/support/encode-line.ts";

const note = (seq: number, text = `fact ${seq}`): KeptEvent => ({
  seq,
  run: "run_1",
  path: "a",
  at: 1000 - seq,
  type: "note",
  text,
});

type Opened = Readonly<{ journal: Journal; kept: KeptEvent[]; lost: Error[] }>;

async function opened(folder: string): Promise<Opened> {
  const kept: KeptEvent[] = [];
  const lost: Error[] = [];
  const journal = await openJournal(folder, {
    kept: (events) => kept.push(...events),
    lost: (error) => lost.push(error),
  });
  return { journal, kept, lost };
}

/** A closed journal with this many notes. */
async function written(folder: string, count: number, text?: string): Promise<string> {
  const { journal } = await opened(folder);
  for (let seq = 1; seq <= count; seq += 1) journal.append(note(seq, text));
  await journal.close();
  return join(folder, JOURNAL_FILE);
}

test("appended records are there after closing, in order, one per line", async () => {
  const folder = tempFolder();
  const file = await written(folder, 5);
  expect((await readJournal(folder)).events).toEqual([1, 2, 3, 4, 5].map((seq) => note(seq)));
  expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(5);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("LOG-06: any text of a tool or model fits into one record and is read back unchanged", async () => {
  const folder = tempFolder();
  const hard = ["a\nb\r\nc", "\u2028\u2029", "\0\0", "\ud800 alone", "\ufffd", "x".repeat(1 << 20), "\u001b[31m", "😀"];
  const { journal } = await opened(folder);
  hard.forEach((text, at) => journal.append(note(at + 1, text)));
  await journal.close();
  const { events, problems } = await readJournal(folder);
  expect(events.map((event) => event.type === "note" && event.text)).toEqual(hard);
  expect(problems).toEqual([]);
});

test("what is hastened just when the write before it ends is durable when the journal says so", async () => {
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

test("what is hastened is written at once, in order with what was appended before and after", async () => {
  const folder = tempFolder();
  const { journal, kept } = await opened(folder);
  const file = join(folder, JOURNAL_FILE);
  journal.append(note(1));
  journal.append(note(2));
  journal.hasten?.();
  expect(readRecords(readFileSync(file), folder).events.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(kept).toEqual([]); // acknowledged only when it is durable
  journal.append(note(3));
  journal.hasten?.(); // while the first two are on their way
  await journal.durable();
  expect(kept.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await journal.close();
  expect((await readJournal(folder)).events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test("events that closely follow a sync share the next one, and it does not wait when one of them is waited for", async () => {
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
  expect(syncs).toBeLessThanOrEqual(7); // one per round, plus delays of a slow machine between two rounds
  journal.append(note(5));
  await vi.waitFor(() => expect(kept.reduce((sum, count) => sum + count)).toBe(21)); // also when no caller waits for it
  await journal.close();
});

describe("an incomplete last record", () => {
  test("LOG-03: is cut off and reported, and the next record starts on a new line", async () => {
    const folder = tempFolder();
    const file = await written(folder, 3);
    truncateSync(file, statSync(file).size - 7);
    const again = await opened(folder);
    expect(again.journal.problems).toEqual([
      expect.stringMatching(/^The last record was incomplete after a crash and was discarded \(\d+ bytes\)\.$/),
    ]);
    again.journal.append(note(3, "new"));
    await again.journal.close();
    const { events, problems } = await readJournal(folder);
    expect(events).toEqual([note(1), note(2), note(3, "new")]);
    expect(problems).toEqual([]);
  });

  test.each(["\0".repeat(4096), `${"\0".repeat(100)}\n`, '{"crc":"'])("may be %j after a power cut", async (rest) => {
    const folder = tempFolder();
    appendFileSync(await written(folder, 2), rest);
    const { journal } = await opened(folder);
    expect(journal.problems).toHaveLength(1);
    await journal.close();
    expect((await readJournal(folder)).problems).toEqual([]);
  });
});

describe("damage before the end", () => {
  test("LOG-04: is reported with record and position, the journal is copied, and the run cannot be resumed", async () => {
    const folder = tempFolder();
    const file = await written(folder, 1000);
    const bytes = readFileSync(file);
    bytes.fill(0x58, bytes.length / 2, bytes.length / 2 + 40);
    writeFileSync(file, bytes);
    const thrown = await opened(folder).catch((error: unknown) => error);
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
    ["a record is there twice", (lines: string[]) => [lines[0]!, lines[0]!, ...lines.slice(1)]],
    ["two records changed places", (lines: string[]) => [lines[1]!, lines[0]!, lines[2]!]],
    ["the last record was changed", (lines: string[]) => [...lines.slice(0, 2), lines[2]!.replace("fact 3", "fact 4")]],
    ["a line end was lost", (lines: string[]) => [lines[0]! + lines[1]!, lines[2]!]],
    ["a hole has records behind it", (lines: string[]) => [lines[0]!, "\0\0\0", lines[2]!]],
  ])("%s", async (_, change) => {
    const folder = tempFolder();
    const file = await written(folder, 3);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, `${change(lines).join("\n")}\n`);
    await expect(readJournal(folder)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });
});

describe("what editors and copies do to a journal does not matter", () => {
  const lines = [1, 2, 3].map((seq) => encodeLine(note(seq), 1));
  test.each([
    ["line ends of Windows", lines.join("").replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${lines.join("")}`],
    ["a missing last line end", lines.join("").trimEnd()],
    ["all of it", `\ufeff${lines.join("").replaceAll("\n", "\r\n").trimEnd()}`],
  ])("%s", async (_, text) => {
    const folder = tempFolder({ [JOURNAL_FILE]: text });
    expect(await readJournal(folder)).toMatchObject({ events: [note(1), note(2), note(3)], problems: [] });
    const { journal } = await opened(folder);
    journal.append(note(4));
    await journal.close();
    expect(await readJournal(folder)).toMatchObject({ events: [1, 2, 3, 4].map((seq) => note(seq)), problems: [] });
  });
});

test("a torn end is reported also when the claims of the earlier owners are gone", async () => {
  const folder = tempFolder({ [JOURNAL_FILE]: `${encodeLine(note(1), 7)}{"crc":"0000` });
  const { journal } = await opened(folder);
  await journal.close();
  expect(journal.problems).toEqual([expect.stringContaining("was incomplete after a crash")]);
});

describe("a damaged journal is shown before and after the damage", () => {
  const lines = [1, 2, 3, 4, 5].map((seq) => encodeLine(note(seq), 1));
  const at = (line: number): number => lines.slice(0, line).join("").length;
  const length = lines[1]!.length;
  test.each([
    ["a changed byte", lines.with(1, lines[1]!.replace("fact 2", "fact !")), [1, 3, 4, 5], [at(1), length, 2, 2]],
    ["a hole", lines.with(1, `${"\0".repeat(length - 1)}\n`), [1, 3, 4, 5], [at(1), length, 2, 2]],
    ["two records in a hole", lines.toSpliced(1, 2, "\0".repeat(2 * length)), [1, 4, 5], [at(1), 2 * length, 2, 3]],
    ["a record that is missing", lines.toSpliced(1, 1), [1, 3, 4, 5], [at(1), 0, 2, 2]],
    ["a record that is there twice", lines.toSpliced(2, 0, lines[1]!), [1, 2, 3, 4, 5], [at(2), length, 3, undefined]],
    [
      "a lost line end and a changed byte",
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

describe("records of other versions", () => {
  test("LOG-08: records of a newer version are kept, skipped and reported", async () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const strange = { ...note(1), type: "node.teleported", whither: "elsewhere" } as unknown as KeptEvent;
    writeFileSync(join(folder, JOURNAL_FILE), encodeLine(strange, 1) + encodeLine(note(2), 1));
    const { journal } = await opened(folder);
    expect(journal.problems).toEqual([
      "Records of types that only a newer version of subcrew knows were skipped: node.teleported.",
    ]);
    expect(await journal.read()).toEqual([strange, note(2)]);
    await journal.close();
    expect(readFileSync(join(folder, JOURNAL_FILE), "utf8")).toContain('"whither":"elsewhere"');
  });

  test("fields that an older version did not write get their old meaning", async () => {
    const folder = tempFolder();
    const old = {
      seq: 1,
      run: "run_1",
      path: "a",
      at: 1,
      type: "tool.started",
      call: "c1",
      tool: "bash",
    } as unknown as KeptEvent;
    writeFileSync(join(folder, JOURNAL_FILE), encodeLine(old, 1));
    expect((await readJournal(folder)).events[0]).toMatchObject({ effect: "write", preview: "" });
  });

  test("CLK-03: timestamps that run backwards do not change the order", async () => {
    const folder = tempFolder();
    await written(folder, 4);
    expect((await readJournal(folder)).events.map(({ seq, at }) => [seq, at])).toEqual([
      [1, 999],
      [2, 998],
      [3, 997],
      [4, 996],
    ]);
  });
});

describe("one owner writes", () => {
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
    const { journal } = await opened(folder);
    journal.append(note(2));
    await journal.close();
    expect((await readJournal(folder)).events).toHaveLength(2);
    expect((await readJournal(folder)).epoch).toBe(8);
  });

  test("a replaced owner acknowledges nothing more and does not change the journal", async () => {
    const folder = tempFolder();
    const { journal, kept, lost } = await opened(folder);
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
    await written(folder, 1);
    expect(existsSync(draft)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
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
    const lacksEnd = ends[records + 1] === length + 1; // of the last record only the line end is missing
    // The part far before the cut was already read with earlier cuts; near the end of a record everything is read.
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
}, 60_000);

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
}, 60_000);

function outcomeOf(bytes: Buffer): "damaged" | ReturnType<typeof readRecords> {
  try {
    return readRecords(bytes, "here");
  } catch (error) {
    expect(error).toMatchObject({ code: "RUN_DAMAGED" });
    return "damaged";
  }
}

test("other work gets its turn while a long journal is read", async () => {
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
      count(); // from here on the journal is only decoded
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
