import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type JournalContents, readForResume } from "../store/journal.ts";
import type { Store } from "../store/store.ts";

/** A run as its journal tells it, read once: whoever resumes or continues it gets this instead of reading again. */
export type RecordedRun = Readonly<{ id: string; journal: JournalContents; state: State }>;

/** Reads the journal of a run. */
export async function readRecordedRun(store: Store, id: string): Promise<RecordedRun> {
  const journal = await readForResume(store.folder(id)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? new CrewError("UNKNOWN_RUN", `There is no run "${id}".`, "See `subcrew runs` for those that were kept.")
      : error;
  });
  return { id, journal, state: journal.events.reduce(reduce, emptyState(id)) };
}
