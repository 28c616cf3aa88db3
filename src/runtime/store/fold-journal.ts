import { openRegular } from "../disk/read-regular.ts";
import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { JOURNAL_FILE, readRecords } from "./journal.ts";
import { LINE_END } from "./journal-line.ts";

/** How much of a journal is in memory at once, unless one record is longer. */
const PIECE_BYTES = 1 << 20;

/** What a journal comes to. However long it is, no more of it is in memory than a piece. */
export async function foldJournal(folder: string, run: string): Promise<State> {
  const state = emptyState(run);
  for await (const events of piecesOf(folder)) for (const event of events) reduce(state, event);
  return state;
}

/** The records of a journal as `readJournal` reads them, piece by piece. Throws at the piece in which one is damaged. */
async function* piecesOf(folder: string): AsyncGenerator<readonly KeptEvent[], void> {
  const file = await openRegular(join(folder, JOURNAL_FILE));
  try {
    let before = { seq: 0, epoch: 0 };
    let rest: Buffer[] = []; // since the last record that is surely not the last one: only that may be torn
    for (;;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, piece.length, null);
      const fresh = piece.subarray(0, bytesRead);
      const last = bytesRead === 0 ? -1 : fresh.lastIndexOf(LINE_END, -2);
      if (bytesRead > 0 && last < 0) {
        rest.push(fresh);
        continue;
      }
      const whole = Buffer.concat([...rest, fresh.subarray(0, last + 1)]);
      const { events, epoch } = readRecords(whole, folder, before);
      before = { seq: before.seq + events.length, epoch };
      yield events;
      if (bytesRead === 0) return;
      rest = [fresh.subarray(last + 1)];
    }
  } finally {
    await file.close();
  }
}
