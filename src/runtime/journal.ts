import { mkdir, open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Journal, JournalListener } from "../core/engine.ts";
import { CrewError, isCrewError, messageOf } from "../core/error.ts";
import type { KeptEvent } from "../core/event.ts";
import { decodeLine, encodeLine } from "./journal-line.ts";
import { claim } from "./owner.ts";

/** The name of the file in the folder of a run. */
export const JOURNAL_FILE = "journal.jsonl";

/**
 * The journal of a run as a file that only grows. What is appended in one turn is written and synced together,
 * and `kept` hears of it only then: acknowledged means on the disk.
 */
export async function openJournal(folder: string, listener: JournalListener): Promise<Journal> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(cannotWrite(folder));
  const owner = await claim(folder).catch(cannotWrite(folder));
  const { file, wholeBytes, problems } = await openWhole(folder).catch(async (error: unknown) => {
    await owner.release();
    throw error;
  });
  let length = wholeBytes;
  let waiting: KeptEvent[] = [];
  let flushing: Promise<void> | undefined;
  let broken: CrewError | undefined;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0 && !broken) {
      const batch = waiting;
      waiting = [];
      const bytes = Buffer.from(batch.map((event) => encodeLine(event, owner.epoch)).join(""));
      try {
        await owner.hold();
        await writeWhole(file, bytes);
        await file.datasync();
        length += bytes.length;
      } catch (error) {
        await file.truncate(length).catch(() => {});
        broken = isCrewError(error) ? error : unwritable(folder, error);
        listener.lost(broken);
        return;
      }
      listener.kept(batch);
    }
  };
  const flushSoon = (): Promise<void> => {
    flushing ??= Promise.resolve()
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
      waiting.push(event);
      void flushSoon();
    },
    durable,
    problems,
    read: async () => (await readJournal(folder)).events,
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

/** Everything in a journal that is whole. A torn last record is left out and reported; damage before it throws. */
export async function readJournal(folder: string): Promise<{ events: readonly KeptEvent[]; problems: readonly string[]; wholeBytes: number }> {
  const bytes = await readFile(join(folder, JOURNAL_FILE));
  const events: KeptEvent[] = [];
  const problems: string[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(0x0a, start);
    const decoded = end < 0 ? undefined : decodeLine(bytes.toString("utf8", start, end));
    const last = end < 0 || end === bytes.length - 1;
    if (!decoded || decoded.event.seq !== events.length + 1) {
      if (last && !decoded) {
        problems.push(`The last record was torn by a crash and was left out (${bytes.length - start} bytes).`);
        break;
      }
      const hint = `Look at line ${events.length + 1} of ${JOURNAL_FILE}; what was recorded before it is whole.`;
      throw new CrewError("RUN_DAMAGED", `The journal in ${folder} is damaged at record ${events.length + 1}.`, hint);
    }
    events.push(decoded.event);
    start = end + 1;
  }
  return { events, problems, wholeBytes: start };
}

/** Opens the journal at the end of what is whole. A torn last record is cut off, so that the next one does not grow into it. */
async function openWhole(folder: string): Promise<{ file: FileHandle; wholeBytes: number; problems: readonly string[] }> {
  const file = await open(join(folder, JOURNAL_FILE), "a", 0o600).catch(cannotWrite(folder));
  try {
    const { wholeBytes, problems } = await readJournal(folder);
    if (problems.length > 0) await file.truncate(wholeBytes);
    return { file, wholeBytes, problems };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A write may be short; only the whole counts. */
async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) offset += (await file.write(bytes, offset)).bytesWritten;
}

function cannotWrite(folder: string): (error: unknown) => never {
  return (error) => {
    throw isCrewError(error) ? error : unwritable(folder, error);
  };
}

function unwritable(folder: string, cause: unknown): CrewError {
  return new CrewError("STATE_UNWRITABLE", `The run cannot be recorded in ${folder}: ${messageOf(cause)}.`, "Free some space or make it writable, or choose another place with SUBCREW_HOME.", { cause });
}
