import { newerFormat } from "./record-format.ts";
import type { RecordPiece, RunRecords } from "../../core/run/run-store.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";

/** The state computed from a journal, and the journal's unreadable parts. */
export type FoldedJournal = Readonly<{
  state: State;
  /** Damaged parts before the end, as text with the offset of each. Such a run can be displayed, but not resumed. */
  damage: readonly string[];
  /** Size of an incomplete last record: it is being written right now, or was cut off by a crash. */
  tornBytes: number;
}>;

/** Computes the state of a run from its records, with only one piece of them in memory at a time. */
export async function foldJournal(run: string, pieces: AsyncIterable<RecordPiece>): Promise<FoldedJournal> {
  const state = emptyState(run);
  const damage: string[] = [];
  let tornBytes = 0;
  for await (const piece of pieces) {
    const newer = state.seq === 0 ? newerFormat(piece.events[0]) : undefined;
    if (newer !== undefined) return { state, damage: [newer], tornBytes: 0 };
    damage.push(...piece.damage);
    for (const event of piece.events) {
      try {
        reduce(state, event);
      } catch (error) {
        // Events that follow damaged records may refer to lost events.
        if (damage.length === 0) throw error;
        damage.push(
          `Record ${event.seq} (${event.type}) cannot be applied, because records before it are missing: ${messageOf(error)}`,
        );
      }
    }
    tornBytes = piece.tornBytes;
  }
  return { state, damage, tornBytes };
}

/** Computes the state of a run whose records must all be readable; throws at a damaged record. */
export async function foldWhole(store: Pick<RunRecords, "read" | "place">, run: string): Promise<State> {
  const { state, damage } = await foldJournal(run, store.read(run));
  if (damage[0] === undefined) return state;
  const hint = `Look into ${store.place(run)}; \`subcrew logs ${run}\` shows what can be read.`;
  throw new CrewError("RUN_DAMAGED", damage[0], hint);
}
