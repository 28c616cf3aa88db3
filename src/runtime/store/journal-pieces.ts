import { join } from "node:path";
import { openRegular } from "../disk/regular-file.ts";
import { type JournalContents, salvageRecords } from "./journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";

/** Chunk size of a journal in memory, unless one record is longer. */
const PIECE_BYTES = 1 << 20;

/** The records of a journal as `salvageRecords` reads them, piece by piece. */
export async function* journalPieces(folder: string): AsyncGenerator<JournalContents, void> {
  const file = await openRegular(join(folder, JOURNAL_FILE));
  try {
    let before = { seq: 0, epoch: 0, offset: 0 };
    let rest: Buffer[] = []; // keep the last record back: only the last one may be incomplete
    for (;;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, piece.length, null);
      const fresh = piece.subarray(0, bytesRead);
      const last = bytesRead === 0 ? -1 : fresh.lastIndexOf(LINE_END, -2);
      if (bytesRead > 0 && last < 0) {
        rest.push(fresh);
        if (rest.length * PIECE_BYTES > MOST_RECORD_BYTES)
          throw new Error(`a record is longer than ${MOST_RECORD_BYTES} bytes`);
        continue;
      }
      const whole = Buffer.concat([...rest, fresh.subarray(0, last + 1)]);
      const contents = salvageRecords(whole, before);
      const { events, epoch } = contents;
      before = { seq: events.at(-1)?.seq ?? before.seq, epoch, offset: before.offset + whole.length };
      yield contents;
      if (bytesRead === 0) return;
      rest = [fresh.subarray(last + 1)];
    }
  } finally {
    await file.close();
  }
}
