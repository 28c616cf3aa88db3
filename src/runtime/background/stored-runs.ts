import { readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { KeptEvent, Origin } from "../../core/run/event.ts";
import type { RunCommand, Receipt } from "../../core/run/run-command.ts";
import { isEnded, type RunStatus, runStatusOf, openQuestions, type Question } from "../../core/run/run-status.ts";
import { cutOffAll, emptyState, type State } from "../../core/run/state.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";
import { ownerOf } from "../disk/run-claim.ts";
import { removeWorktrees, WORKTREES } from "../git/worktree.ts";
import { Run } from "../run/run.ts";
import { type FoldedJournal, foldJournal } from "../store/fold-journal.ts";
import { trimIndex } from "../store/result-index.ts";
import { firstEvent, lastEvent, type Store } from "../store/store.ts";
import { isStarting } from "./background-slots.ts";
import { cancelIdleTask } from "./cancel-idle-task.ts";
import { post, waiting } from "./command-queue.ts";
import { tooLate } from "./handle-command.ts";
import { follow } from "./follow-journal.ts";
import { isRequested } from "./run-request.ts";

/** A stored run, whichever process owns it. */
export type KeptRun = Readonly<{
  id: string;
  folder: string;
  state: State;
  /** The owning process, if it is alive. */
  owner: number | undefined;
  life: RunStatus | "damaged";
  /** What of its journal cannot be read, with the offset of each; the rest of it is in the state. */
  problems: readonly string[];
  /** A process without a terminal works on it. */
  background: boolean;
}>;

/** The stored runs: every process of the user can inspect them and send them commands. */
export type KeptRuns = Readonly<{
  look(id: string): Promise<KeptRun>;
  /** Running and interrupted runs; with `all` also ended ones. Newest first. */
  list(options?: { all?: boolean }): Promise<readonly KeptRun[]>;
  /** Every question without an answer, of all runs, and whether an answer to it is waiting for the run to be resumed. */
  questions(): Promise<readonly (Question & { life: RunStatus; name?: string; answered: boolean })[]>;
  /** Sends a command to the owner of a run. It is kept for the next owner, unless the run has ended. */
  tell(id: string, command: RunCommand, options: { waitMs: number; signal: AbortSignal }): Promise<Receipt | undefined>;
  /** Cancels a task of the plan of a run that nobody works on. */
  cancelTask(id: string, path: string, reason: string): Promise<Receipt>;
  /** A view of a run of another process. Cancelling the view only detaches. */
  follow(id: string): Run;
  /** The events of a run, read lazily; continues while the run is owned. */
  events(id: string, signal: AbortSignal): AsyncIterable<KeptEvent>;
  /** Waits until no process owns the run. */
  ended(id: string, signal: AbortSignal): Promise<KeptRun>;
  /** The remote callers of runs, without local runs. Reads only the first event of each journal. */
  origins(): Promise<ReadonlyMap<string, Origin>>;
  /** Deletes a run that no process owns. */
  remove(id: string): Promise<void>;
  /** Deletes old runs, and the oldest ones above the size limit; never running or resumable ones. */
  collect(limits: CollectLimits): Promise<readonly CollectedRun[]>;
}>;

export type CollectLimits = Readonly<{
  olderThanMs: number;
  maxBytes?: number;
  dryRun?: boolean;
  /** Also runs that were interrupted, paused or parked. */
  unfinished?: boolean;
  now: number;
}>;
export type CollectedRun = Readonly<{ id: string; bytes: number; why: string }>;

/** Polling interval. */
const LOOK_EVERY_MS = 200;

/** The runs in a store. */
export function keptRuns(store: Store): KeptRuns {
  const look = async (id: string): Promise<KeptRun> => {
    const folder = store.folder(id);
    const [owner, background, starting] = await Promise.all([ownerOf(folder), isRequested(folder), isStarting(folder)]);
    const { state, damage, tornBytes } = await folded(folder, id);
    const owned = owner !== undefined || (starting && state.status === "starting");
    if (!owned) cutOffAll(state);
    // Without a process that is writing right now, a last record that is not whole will never be.
    const torn = tornBytes > 0 && !owned ? [`The last record is incomplete after a crash (${tornBytes} bytes).`] : [];
    const life = runStatusOf(state, owned);
    return {
      id,
      folder,
      state,
      owner,
      background,
      problems: [...damage, ...torn],
      life: damage.length > 0 && !isEnded(life) ? "damaged" : life,
    };
  };
  const events: KeptRuns["events"] = (id, signal) => {
    const folder = store.folder(id);
    return follow(folder, async (last) => isLast(last) || (await ownerOf(folder)) === undefined, signal);
  };
  const list = async ({ all = false }: { all?: boolean } = {}): Promise<readonly KeptRun[]> => {
    const ids = await store.list();
    const wanted = all ? ids : await unended(ids);
    return Promise.all(wanted.map(look));
  };
  const unended = async (ids: readonly string[]): Promise<string[]> => {
    const lasts = await Promise.all(ids.map((id) => lastEvent(store.folder(id)).catch(() => undefined)));
    return ids.filter((_, at) => lasts[at]?.type !== "run.ended");
  };
  const remove = async (id: string): Promise<void> => {
    const folder = store.folder(id);
    if ((await ownerOf(folder)) !== undefined || (await isStarting(folder)))
      throw new CrewError("RUN_BUSY", `"${id}" is running.`, `Stop it first: \`subcrew stop ${id}\`.`);
    await removeWorktrees(join(folder, WORKTREES)); // worktrees are registered in their repositories, so they must be removed properly
    // Renamed first, so that a partly deleted run is never listed.
    const gone = join(dirname(folder), `.gone-${id}`);
    await rm(gone, { recursive: true, force: true });
    await rename(folder, gone);
    await rm(gone, { recursive: true, force: true });
  };
  return {
    look,
    list,
    remove,
    questions: async () => {
      const open = (await list()).filter(({ life }) => life !== "damaged");
      const asked = open.map(async ({ id, state, life }) => {
        const said = await waiting(store.folder(id));
        const answered = (path: string): boolean =>
          said.some((command) => command.do === "answer" && command.path === path);
        return openQuestions(state).map((question) => ({
          ...question,
          life: life as RunStatus,
          answered: answered(question.path),
          ...defined({ name: state.name }),
        }));
      });
      return (await Promise.all(asked)).flat().toSorted((a, b) => a.askedAt - b.askedAt);
    },
    origins: async () => {
      const begun = (await store.list()).map(
        async (id) => [id, await firstEvent(store.folder(id)).catch(() => undefined)] as const,
      );
      return new Map(
        (await Promise.all(begun)).flatMap(([id, event]) =>
          event?.type === "run.started" && event.origin ? [[id, event.origin] as const] : [],
        ),
      );
    },
    tell: (id, command, options) =>
      post(store.folder(id), command, {
        ...options,
        ended: async () => {
          const folder = store.folder(id);
          // While it is owned, its owner still writes receipts.
          if ((await ownerOf(folder)) !== undefined || (await lastEvent(folder))?.type !== "run.ended")
            return undefined;
          return { done: false, text: tooLate(command, (await look(id)).state) };
        },
      }),
    cancelTask: (id, path, reason) => cancelIdleTask(store.folder(id), { id, path, reason }),
    events,
    follow: (id) =>
      new Run(id, async (it) => {
        for await (const event of events(id, it.signal)) it.publish(event);
      }),
    ended: async (id, signal) => {
      const folder = store.folder(id);
      while (
        (await ownerOf(folder)) !== undefined &&
        !isLast(await lastEvent(folder)) &&
        (await pause(LOOK_EVERY_MS, signal))
      );
      return look(id);
    },
    collect: async ({ olderThanMs, maxBytes, dryRun = false, unfinished = false, now }) => {
      const all = await Promise.all(
        (await store.list()).map(async (id) => {
          const run = await look(id);
          const { mtimeMs } = await stat(run.folder).catch(() => ({ mtimeMs: now }));
          return {
            ...run,
            bytes: await sizeOf(run.folder),
            at: run.state.endedAt ?? Math.max(run.state.startedAt, mtimeMs),
          };
        }),
      );
      let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
      const collected: CollectedRun[] = [];
      for (const { id, life, bytes, at, owner } of all.toSorted((a, b) => a.at - b.at)) {
        // Interrupted, paused and parked runs can be resumed, so they are deleted only on request.
        if (owner !== undefined || (!isEnded(life) && !unfinished)) continue;
        const old = now - at > olderThanMs;
        const much = maxBytes !== undefined && total > maxBytes && isEnded(life);
        if (!old && !much) continue;
        if (!dryRun) {
          const kept = await remove(id).then(
            () => false,
            (error: unknown) => isCrewError(error) || Promise.reject(error as Error),
          );
          if (kept) continue; // it was just resumed
        }
        total -= bytes;
        collected.push({ id, bytes, why: old ? "too old" : "too much" });
      }
      if (!dryRun) await trimIndex(store.index, new Set(await store.list()));
      return collected;
    },
  };
}

/** True for the last event of a process: the run has ended, or is paused. */
const isLast = (event: KeptEvent | undefined): boolean => event?.type === "run.ended" || event?.type === "run.paused";

/** The fold of a journal, and of nothing where there is none that can be read. */
async function folded(folder: string, id: string): Promise<FoldedJournal> {
  try {
    const journal = await foldJournal(folder, id);
    const empty = journal.state.seq === 0 && journal.tornBytes > 0 && journal.damage.length === 0;
    return empty ? { ...journal, damage: ["The journal holds no whole record."] } : journal;
  } catch (error) {
    const nothing = { state: emptyState(id), damage: [], tornBytes: 0 };
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (missing && ((await isRequested(folder)) || (await isStarting(folder)))) return nothing;
    // One that cannot be read, a pipe or a folder in its place: that is no reason for the list of all runs to fail.
    return { ...nothing, damage: [`The journal cannot be read: ${messageOf(error)}.`] };
  }
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(
        async (entry) => (await stat(join(entry.parentPath ?? entry.path, entry.name)).catch(() => ({ size: 0 }))).size,
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Number of runs that continue a task, directly or indirectly. */
export async function continuationsOf(store: Store, id: string): Promise<number> {
  const started = await Promise.all(
    (await store.list()).map(async (run) => [run, await firstEvent(store.folder(run))] as const),
  );
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
