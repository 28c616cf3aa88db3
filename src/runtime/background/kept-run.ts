import type { RunOwner, RunStore } from "../../core/run/run-store.ts";
import { isEnded, openQuestions, type RunStatus, runStatusOf } from "../../core/run/run-status.ts";
import { cutOffAll, emptyState, type State } from "../../core/run/state.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { type FoldedJournal, foldJournal } from "../store/fold-journal.ts";
import { isRequested } from "./run-request.ts";

/** A stored run, whichever process owns it. */
export type KeptRun = Readonly<{
  id: string;
  /** Where the run is stored, in words for a person. */
  place: string;
  state: State;
  /** The process that works on the run. */
  owner: RunOwner | undefined;
  life: RunStatus | "damaged";
  /** The damaged parts of the journal, each with its offset; the state is computed from the rest. */
  problems: readonly string[];
  /** True: the process that works on the run has no terminal. */
  background: boolean;
  /**
   * The tasks whose questions were answered while no process worked on the run; the answers are kept until it is
   * resumed.
   */
  answered: readonly string[];
}>;

/** What is known about a run from its records and its owner. */
export async function lookAt(store: RunStore, id: string): Promise<KeptRun> {
  const [owner, background, starting] = await Promise.all([
    store.owner(id),
    isRequested(store, id),
    store.isAnnounced(id),
  ]);
  const { state, damage, tornBytes } = await folded(store, id);
  const owned = owner !== undefined || (starting && state.status === "starting");
  if (!owned) cutOffAll(state);
  // If no process is writing, an incomplete last record stays incomplete.
  const torn = tornBytes > 0 && !owned ? [`The last record is incomplete after a crash (${tornBytes} bytes).`] : [];
  const life = runStatusOf(state, owned);
  const asks = !owned && openQuestions(state).length > 0;
  return {
    id,
    place: store.place(id),
    state,
    owner,
    background,
    answered: asks ? await answeredTasks(store, id) : [],
    problems: [...damage, ...torn],
    life: damage.length > 0 && !isEnded(life) ? "damaged" : life,
  };
}

/** The tasks whose questions were answered while no process worked on the run. */
export async function answeredTasks(store: RunStore, id: string): Promise<readonly string[]> {
  return (await store.waiting(id)).flatMap((command) => (command.do === "answer" ? [command.path] : []));
}

/** The state computed from a journal; the initial state when there is no readable journal. */
async function folded(store: RunStore, id: string): Promise<FoldedJournal> {
  try {
    const journal = await foldJournal(id, store.read(id));
    const empty = journal.state.seq === 0 && journal.tornBytes > 0 && journal.damage.length === 0;
    return empty ? { ...journal, damage: ["The journal contains no complete record."] } : journal;
  } catch (error) {
    const nothing = { state: emptyState(id), damage: [], tornBytes: 0 };
    const missing = isCrewError(error) && error.code === "UNKNOWN_RUN";
    if (missing && ((await isRequested(store, id)) || (await store.isAnnounced(id)))) return nothing;
    // An unreadable journal (a pipe or a folder in its place) must not fail the list of all runs.
    return { ...nothing, damage: [`The journal cannot be read: ${messageOf(error).replace(/\.$/, "")}.`] };
  }
}
