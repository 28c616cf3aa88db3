import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isLast, type KeptEvent } from "../../core/run/event.ts";
import type { FollowOptions } from "../../core/run/run-store.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { type JournalContents, RecordReader, undamaged } from "./journal-records.ts";
import { LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";
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
  /** Called at the end of the journal, `hasGrown`: since the last call. If it resolves with true, reading goes on. */
  more?: (hasGrown: boolean) => Promise<boolean>;
}>;

/**
 * Reads a journal from its start, piece by piece, so that other runs of this process continue meanwhile. Before
 * several pieces are taken, the journal is searched for takeovers, because a record may be void that is pieces away from
 * the record that replaces it.
 */
async function* readingsOf(
  folder: string,
  { disk = machineDisk, atOnce = false, more }: JournalReading = {},
): AsyncGenerator<Readonly<{ reader: RecordReader; bytes: number; isEnd: boolean }>, void> {
  let reader: RecordReader | undefined;
  for await (const { bytes, isEnd } of linesIn(folder, disk, more)) {
    if (!reader) {
      const isSimple = isEnd || atOnce || isLastOwner(folder, FIRST_EPOCH);
      reader = new RecordReader({ takeovers: isSimple ? undefined : await takeoversIn(folder, disk) });
    }
    reader.push(bytes, isEnd);
    yield { reader, bytes: bytes.length, isEnd };
    if (!isEnd) await turnOver();
  }
}

/** Polling interval where file watching does not work. */
const LOOK_EVERY_MS = 250;

/**
 * The events of a journal that another process writes: the existing events, then each new event. While a new owner has
 * not written its first record, new events and the end of the run are held back: it may replace them.
 */
export async function* followJournal(
  folder: string,
  { after = 0, until, signal }: FollowOptions,
): AsyncGenerator<KeptEvent, void> {
  let wake = (): void => {};
  const watcher = watching(join(folder, JOURNAL_FILE), () => wake());
  let last: KeptEvent | undefined;
  let held: KeptEvent[] = [];
  let reached = "history" as "history" | "live" | "end";
  let over = false; // evaluated before the last read, so that no event is missed
  const more = async (hasGrown: boolean): Promise<boolean> => {
    reached = (over && !hasGrown) || signal.aborted ? "end" : "live";
    if (reached === "end") return false;
    const looked = new AbortController();
    wake = (): void => looked.abort();
    over = await until(last);
    if (!over) await pause(LOOK_EVERY_MS, AbortSignal.any([looked.signal, signal]));
    return true;
  };
  try {
    for await (const { reader } of readingsOf(folder, { more })) {
      const { events, epoch } = reader.take();
      const replaced = events[0]?.seq ?? Number.POSITIVE_INFINITY;
      const known = [...held.filter(({ seq }) => seq < replaced), ...events];
      const isOpen = known.length > 0 && reached !== "end" && (await isContinued(folder, epoch));
      const sure = !isOpen ? known.length : reached === "live" ? 0 : known.length - (isLast(known.at(-1)) ? 1 : 0);
      held = known.slice(sure);
      for (const event of known.slice(0, sure)) {
        if (signal.aborted) return;
        last = event;
        if (event.seq > after) yield event;
      }
    }
  } finally {
    watcher?.close();
  }
}

function watching(path: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(path, changed).on("error", () => {});
  } catch {
    return undefined; // without a watcher, the journal is polled
  }
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
  more?: JournalReading["more"],
): AsyncGenerator<Readonly<{ bytes: Buffer; isEnd: boolean }>, void> {
  const file = await disk.openToRead(join(folder, JOURNAL_FILE));
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
