import { openRegular } from "../disk/regular-file.ts";
import { join } from "node:path";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { damageText, JOURNAL_FILE, type JournalContents, salvageRecords } from "./journal.ts";
import { LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";

/** Chunk size of a journal in memory, unless one record is longer. */
const PIECE_BYTES = 1 << 20;

/** The folded state of a journal, and its unreadable parts. */
export type FoldedJournal = Readonly<{
  state: State;
  /** Damage before its end, in words with the offset of each. Such a run can be looked at, but not resumed. */
  damage: readonly string[];
  /** Bytes of a last record that is not whole: it is being written right now, or was torn by a crash. */
  tornBytes: number;
}>;

/** Folds a journal. However long it is, no more of it is in memory than a piece. */
export async function foldJournal(folder: string, run: string): Promise<FoldedJournal> {
  const state = emptyState(run);
  const damage: string[] = [];
  let tornBytes = 0;
  for await (const piece of piecesOf(folder)) {
    damage.push(...piece.damage.map(damageText));
    for (const event of piece.events) {
      try {
        reduce(state, event);
      } catch (error) {
        // What comes after a gap may speak of things that stood in it.
        if (damage.length === 0) throw error;
        damage.push(`Record ${event.seq} (${event.type}) makes no sense without what is missing: ${messageOf(error)}`);
      }
    }
    tornBytes = piece.tornBytes;
  }
  return { state, damage, tornBytes };
}

/** The same for a journal that is whole; throws where it is damaged. */
export async function foldWhole(folder: string, run: string): Promise<State> {
  const { state, damage } = await foldJournal(folder, run);
  if (damage[0] === undefined) return state;
  throw new CrewError("RUN_DAMAGED", damage[0], `Look into ${folder}; \`subcrew logs ${run}\` shows what can be read.`);
}

/** The records of a journal as `salvageRecords` reads them, piece by piece. */
async function* piecesOf(folder: string): AsyncGenerator<JournalContents, void> {
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
