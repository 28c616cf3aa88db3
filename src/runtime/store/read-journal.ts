import { join } from "node:path";
import { isLast } from "../../core/run/event.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { openRegular } from "../disk/regular-file.ts";
import { type JournalContents, type ReadBefore, RecordReader, undamaged } from "./journal-records.ts";
import { decodeBytes, LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { FIRST_EPOCH, isContinued, isLastOwner } from "./run-claim.ts";
import { Takeovers } from "./takeovers.ts";

/**
 * Reads all complete records of a journal. An incomplete last record is skipped and reported; damage before it throws.
 */
export async function readJournal(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  let size = 0;
  let contents = new RecordReader().take();
  for await (const { reader, bytes, isEnd } of readingsOf(folder, { disk, atOnce: true })) {
    size += bytes;
    if (isEnd) contents = reader.take();
  }
  return undamaged(contents, folder, size);
}

/**
 * The records of a journal around its damaged parts, one piece of the journal after the other. As long as a new owner
 * has not written a record, the end that the former owner recorded is left out: the run goes on.
 */
export async function* journalPieces(folder: string): AsyncGenerator<JournalContents, void> {
  for await (const { reader, isEnd } of readingsOf(folder)) {
    const contents = reader.take();
    const { events, epoch } = contents;
    const goesOn = isEnd && isLast(events.at(-1)) && (await isContinued(folder, epoch));
    yield goesOn ? { ...contents, events: events.slice(0, -1) } : contents;
  }
}

type JournalReading = Readonly<{
  disk?: Disk;
  /** True: the records are taken only at the end. */
  atOnce?: boolean;
  /** Records up to this number are not needed. */
  after?: number;
  /** Called at the end of the journal, `hasGrown`: since the last call. If it resolves with true, reading goes on. */
  more?: ((hasGrown: boolean) => Promise<boolean>) | undefined;
}>;

/**
 * Reads a journal piece by piece, so that other runs of this process continue meanwhile. Before
 * several pieces are taken, the journal is searched for takeovers, because a record may be void that is pieces away from
 * the record that replaces it.
 */
export async function* readingsOf(
  folder: string,
  { disk = machineDisk, atOnce = false, after = 0, more }: JournalReading = {},
): AsyncGenerator<Readonly<{ reader: RecordReader; bytes: number; isEnd: boolean }>, void> {
  const findTakeovers = async (): Promise<Takeovers | undefined> =>
    atOnce || isLastOwner(folder, FIRST_EPOCH) ? undefined : takeoversIn(folder, disk);
  let reader: RecordReader | undefined;
  let from = 0;
  if (after > 0) {
    const takeovers = await findTakeovers();
    const before = await placeBefore(folder, after, takeovers);
    reader = new RecordReader({ before, takeovers });
    from = before?.offset ?? 0;
  }
  for await (const { bytes, isEnd } of linesIn(folder, disk, { from, more })) {
    reader ??= new RecordReader({ takeovers: isEnd ? undefined : await findTakeovers() });
    reader.push(bytes, isEnd);
    yield { reader, bytes: bytes.length, isEnd };
    if (!isEnd) await turnOver();
  }
}

/** A place near the end of a journal, before the records after a number; `undefined`: the start of the journal. */
function placeBefore(folder: string, after: number, takeovers = new Takeovers()): Promise<ReadBefore | undefined> {
  return readWidening(folder, "end", async (bytes, isWhole, offset) => {
    if (isWhole) return undefined;
    for (let start = bytes.indexOf(LINE_END) + 1, end: number; start > 0; start = end + 1) {
      end = bytes.indexOf(LINE_END, start);
      const record = end < 0 ? undefined : decodeBytes(bytes.subarray(start, end));
      if (!record || record.event.seq > after + 1) return "unknown";
      if (!takeovers.isVoid(record.event.seq, record.epoch))
        return { seq: record.event.seq - 1, epoch: 0, offset: offset + start };
    }
    return "unknown";
  });
}

/** Finds where processes took over a journal, without decoding it. */
export async function takeoversIn(folder: string, disk: Disk = machineDisk): Promise<Takeovers> {
  const takeovers = new Takeovers();
  for await (const { bytes } of linesIn(folder, disk)) takeovers.scan(bytes);
  return takeovers;
}

const turnOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Reads a journal to resume its run. A damaged journal is copied, and resuming fails. */
export async function readForResume(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  return readJournal(folder, disk).catch(async (error: unknown) => {
    if (!isCrewError(error) && (error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new CrewError(
        "RUN_DAMAGED",
        `The journal cannot be read: ${messageOf(error)}.`,
        `Look at the files in ${folder}.`,
        { cause: error },
      );
    if (!isCrewError(error) || error.code !== "RUN_DAMAGED") throw error;
    const aside = join(folder, "journal.damaged.jsonl");
    const kept = await disk.copyFile(join(folder, JOURNAL_FILE), aside).then(
      () => true,
      () => false,
    );
    throw new CrewError(
      error.code,
      error.message,
      kept ? `${error.hint} A copy of the damaged journal is in ${aside}.` : error.hint,
    );
  });
}

/**
 * The bytes of a journal in whole lines. The last line is held back until the end of the file is reached, because only
 * there it may be incomplete. The bytes are valid until the next bytes are requested.
 */
export async function* linesIn(
  folder: string,
  disk: Disk,
  { from = 0, more }: Pick<JournalReading, "more"> & Readonly<{ from?: number }> = {},
): AsyncGenerator<Readonly<{ bytes: Buffer; isEnd: boolean }>, void> {
  const file = await disk.openToRead(join(folder, JOURNAL_FILE), from);
  try {
    let buffer: Buffer = Buffer.allocUnsafe(PIECE_BYTES);
    for (let filled = 0, hasGrown = false; ; ) {
      if (filled === buffer.length) buffer = longer(buffer);
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled);
      filled += bytesRead;
      hasGrown ||= bytesRead > 0;
      const isFull = filled === buffer.length;
      if (bytesRead > 0 && !isFull) continue;
      const whole =
        !isFull && !more ? 0 : buffer.subarray(0, filled).lastIndexOf(LINE_END, isFull ? -2 : undefined) + 1;
      if (whole > 0) yield { bytes: buffer.subarray(0, whole), isEnd: false };
      buffer.copyWithin(0, whole, filled);
      filled -= whole;
      if (isFull) continue;
      if (!(await more?.(hasGrown))) return yield { bytes: buffer.subarray(0, filled), isEnd: true };
      hasGrown = false;
    }
  } finally {
    await file.close();
  }
}

/** How many bytes of a journal are held in memory at a time, unless one record is longer. */
const PIECE_BYTES = 1 << 20;

function longer(buffer: Buffer): Buffer {
  if (buffer.length >= MOST_RECORD_BYTES) throw new Error(`a record is longer than ${MOST_RECORD_BYTES} bytes`);
  const made = Buffer.allocUnsafe(buffer.length * 4);
  buffer.copy(made);
  return made;
}

/** Reads increasing parts of a journal, from its start or its end, until `find` returns a result. */
export async function readWidening<T>(
  folder: string,
  from: "start" | "end",
  find: (bytes: Buffer, isWhole: boolean, offset: number) => Promise<T | "unknown">,
): Promise<T | undefined> {
  const file = await openRegular(join(folder, JOURNAL_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    for (let span = TAIL_BYTES; span <= MOST_RECORD_BYTES; span *= 16) {
      const bytes = Buffer.alloc(Math.min(size, span));
      const offset = from === "start" ? 0 : size - bytes.length;
      await file.read(bytes, 0, bytes.length, offset);
      const found = await find(bytes, span >= size, offset);
      if (found !== "unknown") return found;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

const TAIL_BYTES = 1 << 16;
