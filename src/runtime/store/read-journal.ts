import { join } from "node:path";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { createRecordReader, type JournalContents, salvageRecords, undamaged } from "./journal-records.ts";
import { LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";
import { JOURNAL_FILE } from "./layout.ts";

/**
 * Reads all complete records of a journal. An incomplete last record is skipped and reported; damage before it throws.
 * Records that a process wrote after another process had taken over the run are skipped, too: the journal belongs to
 * the owner with the highest number (epoch). A long journal is read in pieces, so that other runs of this process
 * continue meanwhile.
 */
export async function readJournal(folder: string, disk: Disk = machineDisk): Promise<JournalContents> {
  const reader = createRecordReader();
  let size = 0;
  for await (const { bytes, isEnd } of linesIn(folder, disk)) {
    size += bytes.length;
    reader.push(bytes, isEnd);
    if (!isEnd) await turnOver();
  }
  return undamaged(reader.contents(), folder, size);
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

/** The records of a journal around its damaged parts, one piece of the journal after the other. */
export async function* journalPieces(folder: string): AsyncGenerator<JournalContents, void> {
  let before = { seq: 0, epoch: 0, offset: 0 };
  for await (const { bytes, isEnd } of linesIn(folder, machineDisk)) {
    const contents = salvageRecords(bytes, before, isEnd);
    const { events, epoch } = contents;
    before = { seq: events.at(-1)?.seq ?? before.seq, epoch, offset: before.offset + bytes.length };
    yield contents;
  }
}

/**
 * The bytes of a journal in whole lines. The last line is held back until the end of the file is reached, because only
 * there it may be incomplete. The bytes are valid until the next bytes are requested.
 */
export async function* linesIn(
  folder: string,
  disk: Disk,
): AsyncGenerator<Readonly<{ bytes: Buffer; isEnd: boolean }>, void> {
  const file = await disk.openToRead(join(folder, JOURNAL_FILE));
  try {
    let buffer: Buffer = Buffer.allocUnsafe(PIECE_BYTES);
    let filled = 0;
    for (;;) {
      if (filled === buffer.length) buffer = longer(buffer);
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled);
      filled += bytesRead;
      const held = buffer.subarray(0, filled);
      if (bytesRead === 0) {
        yield { bytes: held, isEnd: true };
        return;
      }
      const last = held.lastIndexOf(LINE_END, -2);
      if (last < 0) continue;
      yield { bytes: held.subarray(0, last + 1), isEnd: false };
      buffer.copyWithin(0, last + 1, filled);
      filled -= last + 1;
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
