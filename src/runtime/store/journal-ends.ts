import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { openRegular } from "../disk/regular-file.ts";
import { decodeBytes, type DecodedLine, LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";
import { epochsIn } from "./journal-records.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { journalPieces } from "./read-journal.ts";
import { claimedEpoch } from "./run-claim.ts";

/** Reads only the first event of a journal. */
export async function firstEvent(folder: string): Promise<KeptEvent | undefined> {
  return readWidening(folder, "start", (bytes, isWhole) => {
    const end = bytes.indexOf(LINE_END);
    if (end < 0 && !isWhole) return "unknown";
    return decodeBytes(end < 0 ? bytes : bytes.subarray(0, end))?.event;
  });
}

/**
 * The last complete event of a journal. Only the end is read, unless another owner may have taken over the run: then
 * the last record may be late, written by the former owner.
 */
export async function lastEvent(folder: string): Promise<KeptEvent | undefined> {
  const claimed = await claimedEpoch(folder);
  const last = await readWidening(folder, "end", (bytes, isWhole) => {
    const found = lastWithin(bytes, isWhole);
    if (found === undefined || found === "unknown") return found;
    const isSure = found.epoch >= claimed && epochsIn(bytes).size === 1;
    return isSure ? { event: found.event } : "late";
  });
  return last === "late" ? lastOfOwners(folder) : last?.event;
}

/** The last event that is not late; `undefined` in a damaged journal. */
async function lastOfOwners(folder: string): Promise<KeptEvent | undefined> {
  let last: KeptEvent | undefined;
  for await (const { events, damage } of journalPieces(folder)) {
    if (damage.length > 0) return undefined;
    last = events.at(-1) ?? last;
  }
  return last;
}

/** Reads increasing parts of a journal, from its start or its end, until `find` returns a result. */
async function readWidening<T>(
  folder: string,
  from: "start" | "end",
  find: (bytes: Buffer, isWhole: boolean) => T | "unknown",
): Promise<T | undefined> {
  const file = await openRegular(join(folder, JOURNAL_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    for (let span = TAIL_BYTES; span <= MOST_RECORD_BYTES; span *= 16) {
      const bytes = Buffer.alloc(Math.min(size, span));
      await file.read(bytes, 0, bytes.length, from === "start" ? 0 : size - bytes.length);
      const found = find(bytes, span >= size);
      if (found !== "unknown") return found;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** The last complete record at the end of a journal; an incomplete record after it is ignored. */
function lastWithin(bytes: Buffer, isWhole: boolean): DecodedLine | undefined | "unknown" {
  for (let end = bytes.length, torn = true; end > 0; torn = false) {
    const start = bytes.lastIndexOf(LINE_END, end - 1) + 1;
    if (start === 0 && !isWhole) return "unknown";
    const record = decodeBytes(bytes.subarray(start, end));
    if (record || (!torn && end > start)) return record;
    end = start - 1;
  }
  return undefined;
}

const TAIL_BYTES = 1 << 16;
