import { isLast, type KeptEvent, type Origin } from "../../core/run/event.ts";
import type { RunCommand, Receipt } from "../../core/run/run-command.ts";
import type { KeptRecords, RunOwner, RunStore } from "../../core/run/run-store.ts";
import { isEnded, type RunStatus, runStatusOf, openQuestions, type Question } from "../../core/run/run-status.ts";
import { cutOffAll, emptyState, type State } from "../../core/run/state.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";
import { removeWorktrees } from "../git/worktree.ts";
import { Run } from "../run/run.ts";
import { type FoldedJournal, foldJournal } from "../store/fold-journal.ts";
import { cancelIdleTask } from "./cancel-idle-task.ts";
import { tooLate } from "./handle-command.ts";
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

/** The stored runs: every process of the user can inspect them and send them commands. */
export type KeptRuns = Readonly<{
  look(id: string): Promise<KeptRun>;
  /**
   * Running and interrupted runs, then the newest of the ended runs: `ended` is their number (none by default); `all`:
   * every run. Newest first.
   */
  list(options?: { all?: boolean; ended?: number }): Promise<readonly KeptRun[]>;
  /** The tasks whose questions are answered, but whose answers wait until a process works on the run. */
  answered(id: string): Promise<readonly string[]>;
  /**
   * Every question without an answer, of all runs, and whether an answer to it is waiting for the run to be resumed.
   */
  questions(): Promise<readonly (Question & { life: RunStatus; name?: string; answered: boolean })[]>;
  /** Sends a command to the owner of a run. It is kept for the next owner, unless the run has ended. */
  tell(id: string, command: RunCommand, options: { waitMs: number; signal: AbortSignal }): Promise<Receipt | undefined>;
  /** Cancels a task of a run that no process works on. */
  cancelTask(id: string, path: string, reason: string): Promise<Receipt>;
  /** A view of a run of another process. Cancelling it only ends the view, not the run. */
  follow(id: string): Run;
  /** The events of a run after a number, read lazily; continues as long as a process owns the run. */
  events(id: string, signal: AbortSignal, after?: number): AsyncIterable<KeptEvent>;
  /** All records of a run that can be read, and descriptions of what cannot be read. */
  records(id: string): Promise<KeptRecords>;
  /** The last event of a run. */
  last(id: string): Promise<KeptEvent | undefined>;
  /** The process that works on a run. */
  owner(id: string): Promise<RunOwner | undefined>;
  /**
   * Takes a run away from its process, or from the process that would continue it next. False: there is no such
   * process, or ownership ends with the process.
   */
  disown(id: string): Promise<boolean>;
  /** A file of this machine with the output or the patch of a task, created if necessary. */
  file: RunStore["file"];
  /** A small text beside the records of a run, such as the address for reports of its progress. */
  document: RunStore["document"];
  setDocument: RunStore["setDocument"];
  /** A stored text of a task: its output, or the patch of its worktree. */
  output: RunStore["output"];
  /** Waits until no process owns the run. */
  ended(id: string, signal: AbortSignal): Promise<KeptRun>;
  /**
   * The remote caller of each run that a remote caller started; locally started runs are left out. Reads only the first
   * event of each journal.
   */
  origins(): Promise<ReadonlyMap<string, Origin>>;
  /** Deletes a run that no process owns. */
  remove(id: string): Promise<void>;
  /**
   * Deletes old runs, and the oldest runs above the size limit; never running or resumable runs. `undefined`: `agree`
   * refused, and nothing was deleted.
   */
  collect(limits: CollectLimits): Promise<readonly CollectedRun[] | undefined>;
  /**
   * Deletes runs that ended before this time, the oldest first. Each call deletes only some of them, and reads only
   * their last records.
   */
  expire(before: number): Promise<readonly string[]>;
}>;

export type CollectLimits = Readonly<{
  olderThanMs: number;
  maxBytes?: number;
  dryRun?: boolean;
  /** True: also deletes runs that were interrupted, paused or parked. */
  unfinished?: boolean;
  now: number;
  /** Is called with the runs before they are deleted. */
  agree?: (runs: readonly CollectedRun[]) => Promise<boolean>;
}>;
/** `at`: when the run ended, or when it last changed. */
export type CollectedRun = Readonly<{ id: string; bytes: number; why: string; life: KeptRun["life"]; at: number }>;

/** How many runs one command deletes because they are old, so that the command does not take long. */
const MOST_EXPIRED = 100;

/** How often a run's state is checked while something waits for it. */
const LOOK_EVERY_MS = 200;

/** Creates the access to the runs in a store. */
export function keptRuns(store: RunStore): KeptRuns {
  const answered = async (id: string): Promise<readonly string[]> =>
    (await store.waiting(id)).flatMap((command) => (command.do === "answer" ? [command.path] : []));
  const look = async (id: string): Promise<KeptRun> => {
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
      answered: asks ? await answered(id) : [],
      problems: [...damage, ...torn],
      life: damage.length > 0 && !isEnded(life) ? "damaged" : life,
    };
  };
  const events: KeptRuns["events"] = (id, signal, after = 0) =>
    store.follow(id, {
      after,
      until: async (last) => isLast(last) || (await store.owner(id)) === undefined,
      signal,
    });
  const list: KeptRuns["list"] = async ({ all = false, ended = 0 } = {}) => {
    const ids = await store.list();
    if (all) return Promise.all(ids.map(look));
    const lasts = await Promise.all(ids.map((id) => store.last(id).catch(() => undefined)));
    const isOver = (_: string, at: number): boolean => lasts[at]?.type === "run.ended";
    const open = ids.filter((id, at) => !isOver(id, at));
    return Promise.all([...open, ...ids.filter(isOver).slice(0, ended)].map(look));
  };
  const remove = async (id: string): Promise<void> => {
    if ((await store.owner(id)) !== undefined || (await store.isAnnounced(id))) throw runIsBusy(id);
    const worktrees = store.local(id, "worktrees");
    if (worktrees !== undefined) await removeWorktrees(worktrees, { all: true }); // git would otherwise still list the worktrees in their repositories
    await store.remove(id);
  };
  return {
    look,
    list,
    remove,
    answered,
    questions: async () => {
      const open = (await list()).filter(({ life }) => life !== "damaged");
      const asked = open.flatMap(({ state, life, answered: said }) =>
        openQuestions(state).map((question) => ({
          ...question,
          life: life as RunStatus,
          answered: said.includes(question.path),
          ...defined({ name: state.name }),
        })),
      );
      return asked.toSorted((a, b) => a.askedAt - b.askedAt);
    },
    origins: async () => {
      const begun = (await store.list()).map(async (id) => [id, await store.first(id).catch(() => undefined)] as const);
      return new Map(
        (await Promise.all(begun)).flatMap(([id, event]) =>
          event?.type === "run.started" && event.origin ? [[id, event.origin] as const] : [],
        ),
      );
    },
    tell: (id, command, options) =>
      store.post(id, command, {
        ...options,
        ended: async () => {
          // While a process owns the run, it may still write receipts of commands.
          if ((await store.owner(id)) !== undefined || (await store.last(id))?.type !== "run.ended") return undefined;
          return { done: false, text: tooLate(command, (await look(id)).state) };
        },
      }),
    cancelTask: (id, path, reason) => cancelIdleTask(store, { id, path, reason }),
    events,
    records: async (id) => {
      const events: KeptEvent[] = [];
      const problems: string[] = [];
      for await (const piece of store.read(id)) {
        for (const event of piece.events) events.push(event);
        problems.push(...piece.damage);
      }
      return { events, problems };
    },
    last: store.last,
    owner: store.owner,
    disown: async (id) => (await store.disown?.(id)) ?? false,
    file: store.file,
    document: store.document,
    setDocument: store.setDocument,
    output: store.output,
    follow: (id) =>
      new Run(id, async (it) => {
        for await (const event of events(id, it.signal)) it.publish(event);
      }),
    ended: async (id, signal) => {
      while (
        (await store.owner(id)) !== undefined &&
        !isLast(await store.last(id)) &&
        (await pause(LOOK_EVERY_MS, signal))
      );
      return look(id);
    },
    expire: async (before) => {
      const gone: string[] = [];
      for (const id of [...(await store.list())].reverse()) {
        if (gone.length >= MOST_EXPIRED) break;
        const last = await store.last(id);
        if (last?.type !== "run.ended" || last.at >= before) continue;
        // A run that was resumed meanwhile is kept.
        await remove(id).then(
          () => gone.push(id),
          () => undefined,
        );
      }
      if (gone.length > 0) await store.sweep();
      return gone;
    },
    collect: async ({ olderThanMs, maxBytes, dryRun = false, unfinished = false, now, agree }) => {
      const all = await Promise.all(
        (await store.list()).map(async (id) => {
          const run = await look(id);
          const { bytes, changedAt } = await store.measure(id).catch(() => ({ bytes: 0, changedAt: now }));
          return { ...run, bytes, at: run.state.endedAt ?? Math.max(run.state.startedAt, changedAt) };
        }),
      );
      let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
      const chosen: CollectedRun[] = [];
      for (const { id, life, bytes, at, owner } of all.toSorted((a, b) => a.at - b.at)) {
        // Interrupted, paused and parked runs can be resumed, so they are deleted only if the caller asks for that.
        if (owner !== undefined || (!isEnded(life) && !unfinished)) continue;
        const old = now - at > olderThanMs;
        const much = maxBytes !== undefined && total > maxBytes && isEnded(life);
        if (!old && !much) continue;
        total -= bytes;
        chosen.push({ id, bytes, why: old ? "too old" : "too much space used", life, at });
      }
      if (dryRun) return chosen;
      if (agree && chosen.length > 0 && !(await agree(chosen))) return undefined;
      const gone: CollectedRun[] = [];
      for (const run of chosen) {
        const isDeleted = await remove(run.id).then(
          () => true,
          (error: unknown) => (isCrewError(error) ? false : Promise.reject(error as Error)),
        );
        if (isDeleted) gone.push(run); // otherwise it was just resumed
      }
      await store.sweep();
      return gone;
    },
  };
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

/** Number of runs that continue a task, directly or indirectly. */
export async function continuationsOf(store: RunStore, id: string): Promise<number> {
  const started = await Promise.all((await store.list()).map(async (run) => [run, await store.first(run)] as const));
  const from = new Map(
    started.flatMap(([run, event]) =>
      event?.type === "run.started" && event.continues !== undefined
        ? [[run, event.continues.split("/")[0]!] as const]
        : [],
    ),
  );
  const rootOf = (run: string): string => {
    const seen = new Set<string>();
    for (let at = run; ; ) {
      const before = from.get(at);
      if (before === undefined || seen.has(at)) return at;
      seen.add(at);
      at = before;
    }
  };
  const root = rootOf(id);
  return [...from.keys()].filter((run) => rootOf(run) === root).length;
}

/** The refusal to delete a run that a process is working on. */
export function runIsBusy(id: string): CrewError {
  return new CrewError("RUN_BUSY", `The run "${id}" is still running.`, `Stop the run first: \`subcrew stop ${id}\`.`);
}
