import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import type { Journal, JournalListener, JournalOpening } from "../../core/run/run-store.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { fault } from "../disk/fault-points.ts";
import type { DiskFile } from "../disk/open-file.ts";
import { makeFolder, syncFolder, syncFolderWithParents } from "../disk/sync-folder.ts";
import { removeDrafts } from "../disk/write-atomic.ts";
import type { JournalContents } from "./journal-records.ts";
import { encodeLines, LINE_END } from "./journal-line.ts";
import { JOURNAL_FILE, localPlace } from "./layout.ts";
import { readForResume, readJournal } from "./read-journal.ts";
import { claim, claimNew, type Owner } from "./run-claim.ts";

/**
 * `known`: the contents of the journal as read before this process owned the run; the journal is read again only if it
 * has changed since.
 */
export type JournalOptions = Pick<JournalOpening, "force" | "sole"> &
  Readonly<{ disk?: Disk; known?: JournalContents | undefined }>;

/**
 * The journal of a run as an append-only file. Events appended in one turn of the event loop are written and synced
 * together, and `kept` is called only then, so that reported events are safely stored.
 */
export async function openJournal(
  folder: string,
  listener: JournalListener,
  { disk = machineDisk, known, ...how }: JournalOptions = {},
): Promise<OpenJournal> {
  const { owner, file, inode, kept, folderDurable } = await take(folder, { disk, known, ...how }).catch(
    cannotWrite(folder),
  );
  let opened: Contents | undefined = kept; // the contents need not be read again until something is appended
  let length = kept.wholeBytes;
  let waiting: KeptEvent[] = [];
  const path = join(folder, JOURNAL_FILE);
  let flushing: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  let hasty = false;
  let broken: CrewError | undefined;
  const gathering = gatherEvents();

  /** True when the waiting events are to be written now: at the start of a write, and when a caller waits for them. */
  let hurried: boolean;

  const writeWaiting = async (): Promise<void> => {
    hurried = true;
    while (waiting.length > 0 && !broken && hurried) {
      const batch = waiting;
      waiting = [];
      hurried = false;
      const bytes = encodeLines(batch, owner.epoch);
      try {
        owner.hold();
        fault("journal.write");
        if (hasty && file.writeSync) writeWholeSync(file.writeSync, bytes, owner);
        else await writeWhole(file, bytes, owner);
        fault("journal.written");
        await file.datasync();
        await folderDurable; // waits for the sync that was started when the folder was created
        if (disk.inodeSync(path) !== inode)
          throw new Error("the folder of the run was deleted or moved during the run");
        // A new owner claims the run before it reads the journal: if this process still owns the run now, a later owner
        // will find these records.
        owner.hold();
        length += bytes.length;
        fault("journal.synced");
      } catch (error) {
        broken = isCrewError(error) ? error : cannotRecord(folder, error);
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
      gathering.written();
    });
    return writing;
  };
  const flushSoon = (): Promise<void> => {
    flushing ??= gathering
      .over()
      .then(flush)
      .finally(() => {
        flushing = undefined;
        if (waiting.length > 0 && !broken) void flushSoon();
      });
    return flushing;
  };
  const durable = async (): Promise<void> => {
    while (waiting.length > 0 && !broken) {
      hurried = true;
      const flushed = flushSoon();
      gathering.end();
      await flushed;
    }
    await writing; // the other events are stored, or in the write that is running
    if (broken) throw broken;
  };
  return {
    append: (event) => {
      opened = undefined;
      waiting.push(event);
      void flushSoon();
    },
    // On a machine without spare processor time, the disk can work while the rest of the event loop's turn is
    // processed.
    hasten: () => {
      hasty = true;
      hurried = true;
      void flush();
      hasty = false;
    },
    durable,
    problems: kept.problems,
    read: async () => (opened ?? (await readJournal(folder, disk))).events,
    neverBegan: () => broken !== undefined && length === 0 && folderDurable !== undefined,
    close: async () => {
      await durable().catch(() => {});
      await file.close();
      await owner.release();
    },
  };
}

/** `neverBegan`: the folder was created for this journal, and its first record could not be written. */
type OpenJournal = Journal & Readonly<{ neverBegan(): boolean }>;

type OpenedFile = Readonly<{
  file: DiskFile;
  /** The inode of the journal file, in case another file gets its name. */
  inode: number;
  kept: JournalContents;
}>;
/** The contents of a journal that its writer needs. */
type Contents = Pick<JournalContents, "events" | "problems" | "wholeBytes">;
type Taken = Omit<OpenedFile, "kept"> &
  Readonly<{
    kept: Contents;
    owner: Owner;
    /**
     * Resolves when the folder of a new run and the names in it survive a power cut: no event is reported as stored
     * before that.
     */
    folderDurable?: Promise<unknown> | undefined;
  }>;

/** Takes ownership of the run and repairs the end of its journal. */
async function take(folder: string, { disk, known, ...how }: JournalOptions & { disk: Disk }): Promise<Taken> {
  fault("run.folder");
  const made = await makeFolder(folder, disk);
  if (made) return begin(folder, { disk, ...how }, made.durable);
  let owner = await claim(folder, { above: known?.epoch ?? 0, disk, ...how });
  try {
    await removeDrafts(folder, localPlace(folder, "outputs"), disk);
    let { file, inode, kept } = await openWhole(folder, disk, known);
    const { problems } = kept; // the incomplete end was already cut off, but still has to be reported
    // Files about earlier owners may be missing; the number (epoch) of this owner must still be higher than any in the
    // journal.
    if (kept.epoch >= owner.epoch) {
      await owner.release();
      await file.close();
      owner = await claim(folder, { above: kept.epoch, disk, ...how });
      ({ file, inode, kept } = await openWhole(folder, disk, kept));
      kept = { ...kept, problems };
    }
    return { owner, file, inode, kept };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

/**
 * Takes ownership of a run whose folder was just created: there is nothing to read or repair, and the sync is awaited
 * later.
 */
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
    const folderDurable = Promise.all([parents, syncFolder(folder, disk)]);
    folderDurable.catch(() => {}); // the first write reports the error
    return { owner, file, inode: disk.inodeSync(path) ?? Number.NaN, kept: NOTHING, folderDurable };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

const NOTHING: Contents = { events: [], problems: [], wholeBytes: 0 };

/**
 * Opens the journal for writing after its last complete record. An incomplete record is cut off, so that the next
 * record starts on a new line.
 */
async function openWhole(folder: string, disk: Disk, known: JournalContents | undefined): Promise<OpenedFile> {
  fault("journal.open");
  const file = await disk.open(join(folder, JOURNAL_FILE), "a", 0o600);
  try {
    let kept = known && (await isUnchanged(file, known)) ? known : await readForResume(folder, disk);
    await syncFolderWithParents(folder, disk); // the process that created the folders may have died before it synced them
    if (kept.tornBytes > 0) await file.truncate(kept.wholeBytes);
    else if (kept.endMissing) kept = await endLine(file, kept);
    // The last writer may have died before it synced these records, which are reported as stored from now on.
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
  const { bytesWritten } = await file.write(Uint8Array.of(LINE_END), 0);
  return { ...kept, wholeBytes: after(kept.wholeBytes, bytesWritten), endMissing: false };
}

/**
 * True if a journal has the same size and has no incomplete end: a journal only grows, except that an incomplete end is
 * cut off.
 */
async function isUnchanged(file: DiskFile, { wholeBytes, tornBytes }: JournalContents): Promise<boolean> {
  return tornBytes === 0 && (await file.stat()).size === wholeBytes;
}

/** Truncates the records of a failed write, if possible: they were not reported as stored. */
async function cutBack(file: DiskFile, owner: Owner, at: Readonly<{ length: number; written: number }>): Promise<void> {
  try {
    const { size } = await file.stat();
    owner.hold(); // throws if a new owner has read these records and relies on them
    // Bytes that another owner may have written are left alone; the next reader handles them.
    if (size > at.length && size <= at.length + at.written) await file.truncate(at.length);
  } catch {
    // The next owner finds an incomplete record, or records that were not reported as stored, and handles them.
  }
}

/** How long after a sync events are collected for the next sync, unless a caller waits for one of them. */
const GATHER_MS = 5;

type Gathering = Readonly<{
  /**
   * Resolves when the appended events should be written: at the end of the event loop turn, or later if a sync has just
   * ended.
   */
  over(): Promise<void>;
  /** Ends the batch with this turn of the event loop, because a caller waits for events. */
  end(): void;
  /** To be called when a sync has ended. */
  written(): void;
}>;

/**
 * Batches events. Follow-up work does not wait for the write, so a sync for each event would only cost processor time:
 * the first event after a while is written at once, and events that follow it closely share one sync.
 */
function gatherEvents(): Gathering {
  let last = Number.NEGATIVE_INFINITY;
  let end = (): void => {};
  return {
    over: () =>
      new Promise((resolve) => {
        const left = last + GATHER_MS - performance.now();
        if (left <= 0) return void setImmediate(resolve);
        const timer = setTimeout(resolve, left);
        end = () => {
          clearTimeout(timer);
          setImmediate(resolve);
        };
      }),
    end: () => end(),
    written: () => {
      last = performance.now();
    },
  };
}

/**
 * Writes all bytes, also if a single write takes only some of them. If another owner took over meanwhile, it has cut
 * off the first part, so the rest is not written.
 */
async function writeWhole(file: DiskFile, bytes: Buffer, owner: Owner): Promise<void> {
  for (let offset = 0; ; ) {
    offset = after(offset, (await file.write(bytes, offset)).bytesWritten);
    if (offset === bytes.length) return;
    owner.hold();
  }
}

function writeWholeSync(write: NonNullable<DiskFile["writeSync"]>, bytes: Buffer, owner: Owner): void {
  for (let offset = 0; ; ) {
    offset = after(offset, write(bytes, offset));
    if (offset === bytes.length) return;
    owner.hold();
  }
}

function after(offset: number, written: number): number {
  if (written === 0) throw new Error("nothing more could be written");
  return offset + written;
}

/** Throws what a write to this folder failed with as an error of the run. */
export function cannotWrite(folder: string): (error: unknown) => never {
  return (error) => {
    throw isCrewError(error) ? error : cannotRecord(folder, error);
  };
}

/** The error of a run whose folder cannot be written. */
export function cannotRecord(folder: string, cause: unknown): CrewError {
  return new CrewError(
    "STATE_UNWRITABLE",
    `The run cannot be recorded in ${folder}: ${messageOf(cause)}.`,
    "Free some disk space, make the folder writable, or choose another folder with SUBCREW_HOME.",
    { cause },
  );
}
