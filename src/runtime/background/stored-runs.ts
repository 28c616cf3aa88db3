import { isLast, type KeptEvent, type Origin } from "../../core/run/event.ts";
import type { Receipt, RunCommand } from "../../core/run/run-command.ts";
import type { KeptRecords, RunOwner, RunStore } from "../../core/run/run-store.ts";
import { type RunStatus, openQuestions, type Question } from "../../core/run/run-status.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";
import { Run } from "../run/run.ts";
import { cancelIdleTask } from "./cancel-idle-task.ts";
import { type CollectedRun, type CollectLimits, collectRuns, deleteExpired, removeRun } from "./delete-runs.ts";
import { answeredTasks, type KeptRun, lookAt } from "./kept-run.ts";
import { tooLate } from "./handle-command.ts";

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
  /** Deletes old runs, and the oldest runs above the size limit, as `collectRuns` does. */
  collect(limits: CollectLimits): Promise<readonly CollectedRun[] | undefined>;
  /** Deletes runs that ended before this time, as `deleteExpired` does. */
  expire(before: number): Promise<readonly string[]>;
}>;

/** How often a run's state is checked while something waits for it. */
const LOOK_EVERY_MS = 200;

/** Creates the access to the runs in a store. */
export function keptRuns(store: RunStore): KeptRuns {
  const look = (id: string): Promise<KeptRun> => lookAt(store, id);
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
  return {
    look,
    list,
    answered: (id) => answeredTasks(store, id),
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
          return tooLate(command, (await look(id)).state);
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
    remove: (id) => removeRun(store, id),
    collect: (limits) => collectRuns(store, limits),
    expire: (before) => deleteExpired(store, before),
  };
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
