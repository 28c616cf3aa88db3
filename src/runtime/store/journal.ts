import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKnown } from "../../core/run/older-events.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import type { Journal, JournalListener, JournalOpening, KeptRecords } from "../../core/run/run-store.ts";
import { type Disk, type DiskFile, machineDisk } from "../disk/disk.ts";
import { fault } from "../disk/fault-points.ts";
import { claim, claimNew, type Owner } from "./run-claim.ts";
import { makeFolder, syncFolder } from "../disk/sync-folder.ts";
import { removeDrafts } from "../disk/write-atomic.ts";
import { JOURNAL_FILE, localPlace } from "./layout.ts";
import { type DecodedLine, decodeBytes, encodeLines, LINE_END } from "./journal-line.ts";

const RECORD_START = '{"crc":"';
const RECORD_HEAD = /^\{"crc":"[0-9a-f]{8}","epoch":\d/;
const HEAD_BYTES = 32;

/** `known`: what was read of the journal before it was claimed; it is read again only if it has changed since. */
export type JournalOptions = Pick<JournalOpening, "force" | "sole"> &
  Readonly<{ disk?: Disk; known?: JournalContents | undefined }>;

/**
 * The journal of a run as a file that only grows. What is appended in one turn is written and synced together,
 * and `kept` is called only then: acknowledged means durable.
 */
export async function openJournal(
  folder: string,
  listener: JournalListener,
  { disk = machineDisk, known, ...how }: JournalOptions = {},
): Promise<Journal> {
  const { owner, file, inode, kept, ...taken } = await take(folder, { disk, known, ...how }).catch(cannotWrite(folder));
  let { durable: folderDurable } = taken;
  let opened: JournalContents | undefined = kept; // it need not be read again until something is appended
  let length = kept.wholeBytes;
  let waiting: KeptEvent[] = [];
  const path = join(folder, JOURNAL_FILE);
  let flushing: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  let hasty = false;
  let broken: CrewError | undefined;

  const writeWaiting = async (): Promise<void> => {
    while (waiting.length > 0 && !broken) {
      const batch = waiting;
      waiting = [];
      const bytes = encodeLines(batch, owner.epoch);
      try {
        owner.hold();
        fault("journal.write");
        if (hasty && file.writeSync) writeWholeSync(file.writeSync, bytes, owner);
        else await writeWhole(file, bytes, owner);
        fault("journal.written");
        await file.datasync();
        await folderDurable; // it was begun when the folder was made
        folderDurable = undefined;
        if (disk.inodeSync(path) !== inode) throw new Error("its folder was deleted or moved while it ran");
        // A new owner claims the run before it reads: if the run is still ours now, a later owner will find these records.
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
  const flush = (): Promise<void> => {
    writing ??= writeWaiting().finally(() => {
      writing = undefined;
    });
    return writing;
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
    // On a machine without processor time to spare, the disk works while the rest of the turn is carried out.
    hasten: () => {
      hasty = true;
      void flush();
      hasty = false;
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

/** What a journal holds, and up to where. */
export type JournalContents = Readonly<{
  events: readonly KeptEvent[];
  /** Repaired problems, as text. */
  problems: readonly string[];
  wholeBytes: number;
  /** Bytes behind that, of a record that was torn by a crash. */
  tornBytes: number;
  /** The last record is complete except for its newline. */
  endMissing: boolean;
  /** The highest epoch that wrote to it. */
  epoch: number;
  /** What cannot be read of it; only where it was read to be shown. */
  damage: readonly JournalDamage[];
}>;

/** A part of a journal that cannot be read, or records that are missing there. */
export type JournalDamage = Readonly<{
  offset: number;
  bytes: number;
  /**
   * The numbers of the first and the last record that should be there, as far as the next one tells; the last is below the
   * first where only a line end is missing.
   */
  records: readonly [number, number | undefined];
}>;

/** Where in a journal its bytes begin, and what was read before them. */
type ReadBefore = Readonly<{ seq: number; epoch: number; offset?: number }>;

/**
 * Reads all complete records of a journal. An incomplete last record is skipped and reported; damage before it throws. Records that
 * a replaced owner wrote after its successor are skipped, too: the journal belongs to the highest epoch.
 */
export async function readJournal(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  const bytes = await disk.readFile(join(folder, JOURNAL_FILE));
  if (bytes.length <= STEP_BYTES) return readRecords(bytes, folder);
  const reading = salvaging(bytes, { seq: 0, epoch: 0 });
  let step = reading.next();
  for (; !step.done; step = reading.next()) await turnOver();
  return undamaged(step.value, folder, bytes.length);
}

/** The same for the bytes of a journal, or for the bytes appended after `before`. */
export function readRecords(bytes: Buffer, folder: string, before: ReadBefore = { seq: 0, epoch: 0 }): JournalContents {
  return undamaged(salvageRecords(bytes, before), folder, (before.offset ?? 0) + bytes.length);
}

function undamaged(contents: JournalContents, folder: string, size: number): JournalContents {
  const [first] = contents.damage;
  if (!first) return contents;
  throw damaged(folder, { record: first.records[0], offset: first.offset, size });
}

/** The records in the file of a journal, wherever it lies, and its problems as sentences. For display only. */
export function recordsInFile(bytes: Buffer): KeptRecords {
  const { events, problems, damage } = salvageRecords(bytes);
  return { events, problems: [...damage.map(damageText), ...problems] };
}

/** Reads the records around damaged parts, for display only. Nothing may be appended to such a journal. */
export function salvageRecords(bytes: Buffer, before: ReadBefore = { seq: 0, epoch: 0 }): JournalContents {
  const reading = salvaging(bytes, before);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

/** Bytes that are read before other work gets its turn. */
const STEP_BYTES = 1 << 20;

/** The same in steps: a long journal takes seconds, and a process that resumes one run carries out others. */
function* salvaging(bytes: Buffer, before: ReadBefore): Generator<void, JournalContents> {
  const events: KeptEvent[] = [];
  const damage: { offset: number; bytes: number; records: [number, number | undefined] }[] = [];
  const from = before.offset ?? 0;
  let { epoch } = before;
  let tornBytes = 0;
  let late = 0;
  const next = (): number => (events.at(-1)?.seq ?? before.seq) + 1;
  const spoilt = (start: number, end: number): void => {
    const last = damage.at(-1);
    if (last && last.offset + last.bytes === from + start) last.bytes += end - start;
    else damage.push({ offset: from + start, bytes: end - start, records: [next(), undefined] });
  };
  const take = ({ event, epoch: writer }: DecodedLine, start: number, end: number): void => {
    if (writer > epoch) late += forget(events, event.seq);
    if (writer < epoch) {
      late += 1;
      return;
    }
    if (event.seq < next()) {
      spoilt(start, end); // a record that is there twice, or in the wrong place
      return;
    }
    if (event.seq > next()) {
      const last = damage.at(-1);
      if (last && last.offset + last.bytes === from + start) last.records[1] = event.seq - 1;
      else damage.push({ offset: from + start, bytes: 0, records: [next(), event.seq - 1] });
    }
    events.push(event);
    epoch = writer;
  };
  let start = 0;
  let pausedAt = 0;
  let endMissing = false;
  while (start < bytes.length) {
    if (start - pausedAt > STEP_BYTES) {
      pausedAt = start;
      yield;
    }
    const found = bytes.indexOf(LINE_END, start);
    const end = found < 0 ? bytes.length : found;
    const decoded = decodeBytes(bytes.subarray(start, end));
    if (decoded) take(decoded, start, end);
    else if (isTorn(bytes, start, found)) {
      tornBytes = bytes.length - start;
      break;
    } else {
      for (const [at, to] of recordsWithin(bytes, start, end)) {
        const inner = decodeBytes(bytes.subarray(at, to));
        if (inner) take(inner, at, to);
        else spoilt(at, to);
        // Only a newline is lost here, but the file may be damaged elsewhere, too.
        if (inner && to < end)
          damage.push({ offset: from + to, bytes: 0, records: [inner.event.seq + 1, inner.event.seq] });
      }
    }
    endMissing = found < 0;
    const last = damage.at(-1);
    if (!endMissing && last && last.bytes > 0 && last.offset + last.bytes === from + end) last.bytes += 1;
    start = end + (endMissing ? 0 : 1);
  }
  const unknown = new Set(events.filter((event) => !isKnown(event)).map(({ type }) => type));
  const problems = [
    ...(tornBytes > 0 ? [`The last record was incomplete after a crash and was discarded (${tornBytes} bytes).`] : []),
    ...(late > 0
      ? [`${late} records that a previous owner wrote after another process had taken over were ignored.`]
      : []),
    ...(unknown.size > 0 ? [`Records of a newer version were kept but not read: ${[...unknown].join(", ")}.`] : []),
  ];
  return { events, problems, wholeBytes: start, tornBytes, endMissing, epoch, damage };
}

/**
 * A new owner continues after the records it found. Records that the old owner wrote in between were not acknowledged: it
 * checks its ownership before it acknowledges.
 */
function forget(events: KeptEvent[], seq: number): number {
  let count = 0;
  while ((events.at(-1)?.seq ?? 0) >= seq) {
    events.pop();
    count += 1;
  }
  return count;
}

/** The events in the lines of a journal, one after the other; what is damaged is left out. */
export function* eventsWithin(lines: Buffer): Generator<KeptEvent, void> {
  for (let start = 0; start < lines.length; ) {
    const found = lines.indexOf(LINE_END, start);
    const end = found < 0 ? lines.length : found;
    const decoded = decodeBytes(lines.subarray(start, end));
    if (decoded) yield decoded.event;
    else
      for (const [at, to] of recordsWithin(lines, start, end)) {
        const inner = decodeBytes(lines.subarray(at, to));
        if (inner) yield inner.event;
      }
    start = end + 1;
  }
}

/** Offsets of possible records inside a damaged line: the newline between two records may be lost. */
function recordsWithin(bytes: Buffer, start: number, end: number): [number, number][] {
  const starts = [start];
  for (let at = bytes.indexOf(RECORD_START, start + 1); at >= 0 && at < end; at = bytes.indexOf(RECORD_START, at + 1)) {
    if (RECORD_HEAD.test(bytes.toString("latin1", at, Math.min(end, at + HEAD_BYTES)))) starts.push(at);
  }
  return starts.map((at, index) => [at, starts[index + 1] ?? end]);
}

/** A record that has no end, or a hole that a power cut left, with nothing behind it. */
function isTorn(bytes: Buffer, start: number, end: number): boolean {
  if (end < 0) return true;
  return end === bytes.length - 1 && bytes.subarray(start, end).includes(0);
}

/** Reads a journal to resume its run. A damaged journal is copied and the resume fails. */
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
      kept ? `${error.hint} A copy of the damaged journal is in ${aside}.` : error.hint,
    );
  });
}

type OpenedFile = Readonly<{
  file: DiskFile;
  /** By which the file is told from another one that gets its name. */
  inode: number;
  kept: JournalContents;
}>;
type Taken = OpenedFile &
  Readonly<{
    owner: Owner;
    /** Resolves when the folder of a new run and the names in it survive a power cut: nothing is acknowledged before. */
    durable?: Promise<unknown> | undefined;
  }>;

/** Claims the run and repairs the end of its journal. */
async function take(folder: string, { disk, known, ...how }: JournalOptions & { disk: Disk }): Promise<Taken> {
  fault("run.folder");
  const made = await makeFolder(folder, disk);
  if (made) return begin(folder, { disk, ...how }, made.durable);
  let owner = await claim(folder, { above: known?.epoch ?? 0, disk, ...how });
  try {
    let { file, inode, kept } = await openWhole(folder, disk, known);
    const { problems } = kept; // a torn end is cut off by now, and still has to be reported
    // Claim files may be missing; the new epoch must still be higher than any epoch in the journal.
    if (kept.epoch >= owner.epoch) {
      await owner.release();
      await file.close();
      owner = await claim(folder, { above: kept.epoch, disk, ...how });
      ({ file, inode, kept } = await openWhole(folder, disk, kept));
      kept = { ...kept, problems };
    }
    await removeDrafts(folder, localPlace(folder, "outputs"), disk);
    return { owner, file, inode, kept };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

/** Claims a run whose folder was just made: there is nothing to read and nothing to repair, and the disk is waited for later. */
async function begin(
  folder: string,
  { disk, ...how }: JournalOptions & { disk: Disk },
  parents: Promise<unknown>,
): Promise<Taken> {
  const owner = await claimNew(folder, { disk, ...how });
  try {
    fault("journal.open");
    const path = join(folder, JOURNAL_FILE);
    const file = await disk.open(path, "a", 0o600);
    const durable = Promise.all([parents, syncFolder(folder, disk)]);
    durable.catch(() => {}); // the rejection reaches the first write
    return { owner, file, inode: disk.inodeSync(path) ?? 0, kept: NOTHING, durable };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

const NOTHING: JournalContents = {
  events: [],
  problems: [],
  wholeBytes: 0,
  tornBytes: 0,
  endMissing: false,
  epoch: 0,
  damage: [],
};

/** Opens the journal after its last complete record. An incomplete record is cut off, so that the next one starts clean. */
async function openWhole(folder: string, disk: Disk, known: JournalContents | undefined): Promise<OpenedFile> {
  fault("journal.open");
  const file = await disk.open(join(folder, JOURNAL_FILE), "a", 0o600);
  try {
    let kept = known && (await isUnchanged(file, known)) ? known : await readForResume(folder, disk);
    if (kept.events.length === 0) await syncFolder(folder, disk);
    if (kept.tornBytes > 0) await file.truncate(kept.wholeBytes);
    else if (kept.endMissing) kept = await endLine(file, kept);
    // Its writer may have died before it was synced, and from here on it is reported.
    if (kept.wholeBytes + kept.tornBytes > 0) await file.sync();
    if (kept.tornBytes > 0) fault("journal.cut");
    return { file, inode: (await file.stat()).ino, kept };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Writes the line end that the last record lacks. */
async function endLine(file: DiskFile, kept: JournalContents): Promise<JournalContents> {
  if ((await file.write(Uint8Array.of(LINE_END), 0)).bytesWritten !== 1)
    throw new Error("nothing more could be written");
  return { ...kept, wholeBytes: kept.wholeBytes + 1, endMissing: false };
}

/** A journal only grows, except for a torn end that is cut off: one without such an end and of the same size is the same. */
async function isUnchanged(file: DiskFile, { wholeBytes, tornBytes }: JournalContents): Promise<boolean> {
  return tornBytes === 0 && (await file.stat()).size === wholeBytes;
}

/** Truncates the records of a failed write, if possible: they were not acknowledged. */
async function cutBack(file: DiskFile, owner: Owner, at: Readonly<{ length: number; written: number }>): Promise<void> {
  try {
    const { size } = await file.stat();
    owner.hold(); // a new owner has read them and relies on them
    // The rest may belong to another owner; the next reader handles it.
    if (size > at.length && size <= at.length + at.written) await file.truncate(at.length);
  } catch {
    // The next owner finds an incomplete record, or unacknowledged ones.
  }
}

/** Batches the events of one event loop turn; follow-up work does not wait for the write. */
const turnOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A write may be short, so it is continued. If another owner took over meanwhile, it cut off the first part, and the rest is not written. */
async function writeWhole(file: DiskFile, bytes: Buffer, owner: Owner): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    if (offset > 0) owner.hold();
    const { bytesWritten } = await file.write(bytes, offset);
    if (bytesWritten === 0) throw new Error("nothing more could be written");
    offset += bytesWritten;
  }
}

function writeWholeSync(write: NonNullable<DiskFile["writeSync"]>, bytes: Buffer, owner: Owner): void {
  for (let offset = 0; offset < bytes.length; ) {
    if (offset > 0) owner.hold();
    const written = write(bytes, offset);
    if (written === 0) throw new Error("nothing more could be written");
    offset += written;
  }
}

/** What cannot be read of a journal, in words. */
export function damageText({ offset, bytes, records: [first, last] }: JournalDamage): string {
  if (last !== undefined && last < first) return `${JOURNAL_FILE} lacks a line end at byte ${offset}.`;
  const missing =
    last === undefined
      ? `record ${first} and later ones`
      : first === last
        ? `record ${first}`
        : `records ${first} to ${last}`;
  return bytes === 0
    ? `${JOURNAL_FILE} lacks ${missing} at byte ${offset}.`
    : `${JOURNAL_FILE} is damaged at byte ${offset} (${bytes} bytes, ${missing}); what stands before and after it is shown.`;
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
