import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKnown } from "../../core/run/older-events.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import type { Journal, JournalListener } from "../../core/task/engine.ts";
import { type Disk, type DiskFile, machineDisk } from "../disk/disk.ts";
import { fault } from "../disk/fault-points.ts";
import { claim, type Owner } from "../disk/run-claim.ts";
import { makeFolder, syncFolder } from "../disk/sync-folder.ts";
import { removeDrafts } from "../disk/write-atomic.ts";
import { decodeBytes, encodeLines, LINE_END } from "./journal-line.ts";

/** The name of the file in the folder of a run. */
export const JOURNAL_FILE = "journal.jsonl";

/** `known`: what was read of the journal before it was claimed; it is read again only if it has changed since. */
export type JournalOptions = Readonly<{ disk?: Disk; known?: JournalContents | undefined }>;

/**
 * The journal of a run as a file that only grows. What is appended in one turn is written and synced together,
 * and `kept` hears of it only then: acknowledged means on the disk.
 */
export async function openJournal(
  folder: string,
  listener: JournalListener,
  { disk = machineDisk, known }: JournalOptions = {},
): Promise<Journal> {
  const { owner, file, kept } = await take(folder, disk, known).catch(cannotWrite(folder));
  let opened: JournalContents | undefined = kept; // until something is added, it need not be read again
  let length = kept.wholeBytes;
  let waiting: KeptEvent[] = [];
  let flushing: Promise<void> | undefined;
  let broken: CrewError | undefined;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0 && !broken) {
      const batch = waiting;
      waiting = [];
      const bytes = encodeLines(batch, owner.epoch);
      try {
        owner.hold();
        fault("journal.write");
        await writeWhole(file, bytes, owner);
        fault("journal.written");
        await file.datasync();
        if ((await file.stat()).nlink === 0) throw new Error("its folder was deleted while it ran");
        // Whoever takes the run over claims it before it reads: if nobody has by now, it will find these records.
        owner.hold();
        length += bytes.length;
        fault("journal.synced");
      } catch (error) {
        broken = isCrewError(error) ? error : unwritable(folder, error);
        if (broken.code === "STATE_UNWRITABLE") await cutBack(file, owner, { length, written: bytes.length });
        listener.lost(broken);
        return;
      }
      listener.kept(batch);
    }
  };
  const flushSoon = (): Promise<void> => {
    flushing ??= turnOver()
      .then(flush)
      .finally(() => {
        flushing = undefined;
      });
    return flushing;
  };
  const durable = async (): Promise<void> => {
    while (waiting.length > 0 && !broken) await flushSoon();
    await flushing;
    if (broken) throw broken;
  };
  return {
    append: (event) => {
      opened = undefined;
      waiting.push(event);
      void flushSoon();
    },
    durable,
    problems: kept.problems,
    read: async () => (opened ?? (await readJournal(folder, disk))).events,
    close: async () => {
      await durable().catch(() => {});
      await file.close();
      await owner.release();
    },
  };
}

/** A journal that lives as long as the process, for runs that nobody wants to keep. */
export function memoryJournal({ kept }: JournalListener): Journal {
  const events: KeptEvent[] = [];
  return {
    append: (event) => {
      events.push(event);
      kept([event]);
    },
    durable: () => Promise.resolve(),
    problems: [],
    read: () => Promise.resolve(events),
    close: () => Promise.resolve(),
  };
}

/** What a journal holds, and up to where. */
export type JournalContents = Readonly<{
  events: readonly KeptEvent[];
  /** What was wrong with it and does not matter any more, in words. */
  problems: readonly string[];
  wholeBytes: number;
  /** Bytes behind that, of a record that was torn by a crash. */
  tornBytes: number;
  /** The highest epoch that wrote to it. */
  epoch: number;
}>;

/**
 * Everything in a journal that is whole. A torn last record is left out and reported; damage before it throws. So is what
 * an earlier owner wrote after a later one had begun: the journal belongs to whoever has the highest epoch.
 */
export async function readJournal(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  return readRecords(await disk.readFile(join(folder, JOURNAL_FILE)), folder);
}

/** The same for the bytes of a journal, or for those that follow on what was read `before`. */
export function readRecords(
  bytes: Buffer,
  folder: string,
  before: Readonly<{ seq: number; epoch: number }> = { seq: 0, epoch: 0 },
): JournalContents {
  const events: KeptEvent[] = [];
  let start = 0;
  let { epoch } = before;
  let tornBytes = 0;
  let late = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_END, start);
    const decoded = end < 0 ? undefined : decodeBytes(bytes.subarray(start, end));
    if (!decoded && isTorn(bytes, start, end)) {
      tornBytes = bytes.length - start;
      break;
    }
    if (decoded && decoded.epoch > epoch) late += forget(events, decoded.event.seq - before.seq - 1);
    if (decoded && decoded.epoch < epoch) late += 1;
    else if (decoded?.event.seq === before.seq + events.length + 1) {
      events.push(decoded.event);
      epoch = decoded.epoch;
    } else throw damaged(folder, { record: before.seq + events.length + 1, offset: start, size: bytes.length });
    start = end + 1;
  }
  const unknown = new Set(events.filter((event) => !isKnown(event)).map(({ type }) => type));
  const problems = [
    ...(tornBytes > 0 ? [`The last record was torn by a crash and was left out (${tornBytes} bytes).`] : []),
    ...(late > 0
      ? [`${late} records of an earlier owner came after a later one had taken over, and do not count.`]
      : []),
    ...(unknown.size > 0 ? [`What a newer version wrote is kept and skipped: ${[...unknown].join(", ")}.`] : []),
  ];
  return { events, problems, wholeBytes: start, tornBytes, epoch };
}

/**
 * A later owner goes on behind what it found when it came. What an earlier one wrote in between was told to nobody: it
 * looks whether it still owns the run before it tells.
 */
function forget(events: KeptEvent[], found: number): number {
  return found < 0 ? 0 : events.splice(found).length;
}

/** A record without an end, or a hole that a power cut left, with nothing behind it. */
function isTorn(bytes: Buffer, start: number, end: number): boolean {
  if (end < 0) return true;
  return end === bytes.length - 1 && bytes.subarray(start, end).includes(0);
}

/** A journal that is to be gone on with. A damaged one is kept aside as it is now, and the run stops here. */
export async function readForResume(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  return readJournal(folder, disk).catch(async (error: unknown) => {
    if (!isCrewError(error) || error.code !== "RUN_DAMAGED") throw error;
    const aside = join(folder, "journal.damaged.jsonl");
    const kept = await disk.copyFile(join(folder, JOURNAL_FILE), aside).then(
      () => true,
      () => false,
    );
    throw new CrewError(
      error.code,
      error.message,
      kept ? `${error.hint} A copy of it as it is now was put aside in ${aside}.` : error.hint,
    );
  });
}

type Taken = Readonly<{ owner: Owner; file: DiskFile; kept: JournalContents }>;

/** Makes the run ours and its journal whole. */
async function take(folder: string, disk: Disk, known: JournalContents | undefined): Promise<Taken> {
  fault("run.folder");
  await makeFolder(folder, disk);
  let owner = await claim(folder, known?.epoch ?? 0, disk);
  try {
    let { file, kept } = await openWhole(folder, disk, known);
    // The claims of an earlier life may be gone; what it wrote is not, and a lower number than its own would not count.
    if (kept.epoch >= owner.epoch) {
      await owner.release();
      await file.close();
      owner = await claim(folder, kept.epoch, disk);
      ({ file, kept } = await openWhole(folder, disk, kept));
    }
    await removeDrafts(folder, join(folder, "outputs"), disk);
    return { owner, file, kept };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

/** Opens the journal at the end of what is whole. A torn last record is cut off, so that the next one does not grow into it. */
async function openWhole(
  folder: string,
  disk: Disk,
  known: JournalContents | undefined,
): Promise<{ file: DiskFile; kept: JournalContents }> {
  fault("journal.open");
  const file = await disk.open(join(folder, JOURNAL_FILE), "a", 0o600);
  try {
    const kept = known && (await isUnchanged(file, known)) ? known : await readForResume(folder, disk);
    if (kept.events.length === 0) await syncFolder(folder, disk);
    if (kept.tornBytes > 0) await file.truncate(kept.wholeBytes);
    // Whoever wrote it may have died before it was on the disk, and from here on it is told.
    if (kept.wholeBytes + kept.tornBytes > 0) await file.sync();
    if (kept.tornBytes > 0) fault("journal.cut");
    return { file, kept };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A journal only grows, except for a torn end that is cut off: one without such an end and of the same size is the same. */
async function isUnchanged(file: DiskFile, { wholeBytes, tornBytes }: JournalContents): Promise<boolean> {
  return tornBytes === 0 && (await file.stat()).size === wholeBytes;
}

/** Takes back what a failed write left of its records, as far as the disk allows that: nobody was told of them. */
async function cutBack(file: DiskFile, owner: Owner, at: Readonly<{ length: number; written: number }>): Promise<void> {
  try {
    const { size } = await file.stat();
    owner.hold(); // whoever took over has read them, and counts on them
    // More than that is not ours alone; the next one who opens it sorts it out.
    if (size > at.length && size <= at.length + at.written) await file.truncate(at.length);
  } catch {
    // The next one finds a torn record, or whole ones that nobody was told of.
  }
}

/** Whatever else happens in this turn is recorded together, and what it sets going does not wait for the record to be written. */
const turnOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A write may be short; only the whole counts. Whoever took over meanwhile has cut off the first part: no rest follows it. */
async function writeWhole(file: DiskFile, bytes: Buffer, owner: Owner): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    if (offset > 0) owner.hold();
    const { bytesWritten } = await file.write(bytes, offset);
    if (bytesWritten === 0) throw new Error("nothing more could be written");
    offset += bytesWritten;
  }
}

function damaged(
  folder: string,
  { record, offset, size }: { record: number; offset: number; size: number },
): CrewError {
  const hint = `Look at byte ${offset} of ${JOURNAL_FILE} (${size} bytes); what was recorded before it is whole.`;
  return new CrewError("RUN_DAMAGED", `The journal in ${folder} is damaged at record ${record}.`, hint);
}

function cannotWrite(folder: string): (error: unknown) => never {
  return (error) => {
    throw isCrewError(error) ? error : unwritable(folder, error);
  };
}

function unwritable(folder: string, cause: unknown): CrewError {
  return new CrewError(
    "STATE_UNWRITABLE",
    `The run cannot be recorded in ${folder}: ${messageOf(cause)}.`,
    "Free some space or make it writable, or choose another place with SUBCREW_HOME.",
    { cause },
  );
}
