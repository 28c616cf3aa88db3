import { isActive, isEnded, openQuestions, runStatusOf } from "../core/run/run-status.ts";
import { reduce } from "../core/run/state.ts";
import type { Crew } from "./crew-type.ts";
import { atMostEvery } from "../runtime/async/at-most-every.ts";
import { pause } from "../runtime/async/cancel.ts";
import type { KeptRun } from "../runtime/background/kept-run.ts";
import type { DiffSize, ShownRun } from "../core/view/run-rows.ts";

/** The runs that a screen shows, updated live. */
export type RunFeed = Readonly<{
  /** The shown runs, newest first. */
  runs(): readonly ShownRun[];
  /** The number of older ended runs that were not read. */
  older(): number;
}>;

export type FeedOptions = Readonly<{
  /** If set, only this run is shown. */
  only?: string | undefined;
  signal: AbortSignal;
  changed(): void;
}>;

/** Maximum number of ended runs that are read. */
const MOST_ENDED = 40;
/** Minimum interval between comparisons of a run's changed files: each reads the whole journal. */
export const COMPARE_EVERY_MS = 2_000;
/** How often the feed looks for new runs, and for processes that have taken over a run. */
const LOOK_EVERY_MS = 1_000;
/** How many ended runs are checked each time, because a person may have continued them. */
const MOST_CHECKED = 20;

type Entry = {
  run: KeptRun;
  following: boolean;
  diffs: ReadonlyMap<string, DiffSize>;
  comparedAt: number;
  /** True: a file has changed since the last comparison. */
  changed: boolean;
  /** Requests a comparison of the run's changed files. */
  readonly compare: () => void;
  /** The number of the last event when the run was last checked. */
  last: number | undefined;
  /** The run as the screen shows it; the same object until the run changes, so that its rows are reused. */
  shown: (ShownRun & Readonly<{ of: KeptRun }>) | undefined;
};

/** Reads the runs, then applies each new event to its run. Resolves once the runs were read. */
export async function followRuns(crew: Crew, { only, signal, changed }: FeedOptions): Promise<RunFeed> {
  const entries = new Map<string, Entry>();
  let order: readonly string[] = [];
  let unread = 0;

  const opened = (run: KeptRun): Entry => {
    const entry: Entry = {
      run,
      following: false,
      diffs: new Map(),
      comparedAt: -1,
      shown: undefined,
      changed: false,
      last: undefined,
      compare: atMostEvery(COMPARE_EVERY_MS, signal, () => compare(entry)),
    };
    return entry;
  };
  const compare = async (entry: Entry): Promise<void> => {
    entry.comparedAt = entry.run.state.seq;
    entry.changed = false;
    const report = await crew.changes(entry.run.id).catch(() => undefined);
    if (!report || signal.aborted) return;
    entry.diffs = changeSizes(report.files);
    changed();
  };

  const follow = async (entry: Entry): Promise<void> => {
    if (entry.following || !isActive(entry.run.life) || signal.aborted) return;
    entry.following = true;
    const { id, state } = entry.run;
    try {
      for await (const event of crew.kept.events(id, signal, state.seq)) {
        reduce(state, event);
        const life = runStatusOf(state, true);
        if (life !== entry.run.life) entry.run = { ...entry.run, life };
        if (event.type === "files.changed") entry.changed = true;
        if (event.type === "node.ended" && entry.changed) entry.compare();
        changed();
      }
    } catch {
      // The journal cannot be read because the run was deleted or is damaged; the next check shows which.
    }
    entry.following = false;
    await refresh(id);
  };

  const refresh = async (id: string): Promise<void> => {
    if (signal.aborted) return;
    const run = await crew.kept.look(id).catch(() => undefined);
    if (!run) return void entries.delete(id);
    const entry = entries.get(id) ?? opened(run);
    if (!entry.following) entry.run = run;
    entries.set(id, entry);
    if (entry.comparedAt !== run.state.seq) entry.compare();
    changed();
    void follow(entry);
  };

  const look = async (): Promise<void> => {
    const stored = await crew.runs();
    order = only === undefined ? stored : stored.filter((id) => id === only);
    const open = new Set(order);
    const deleted = [...entries.keys()].filter((id) => !open.has(id));
    for (const id of deleted) entries.delete(id);
    if (deleted.length > 0) changed();
    const fresh = order.filter((id) => !entries.has(id));
    const unended =
      only === undefined && entries.size === 0 ? new Set((await crew.kept.list()).map(({ id }) => id)) : undefined;
    const ended = unended ? fresh.filter((id) => !unended.has(id)) : [];
    const left = new Set(unended ? ended.slice(MOST_ENDED) : skipped);
    if (unended) for (const id of left) skipped.add(id);
    unread = [...skipped].filter((id) => open.has(id)).length;
    await Promise.all(fresh.filter((id) => !left.has(id)).map(refresh));
    const idle = [...entries.values()].filter(({ run, following }) => !following && !isEnded(run.life));
    for (const entry of idle) {
      const { id, life } = entry.run;
      const owned = (await crew.kept.owner(id)) !== undefined;
      await (owned === isActive(life) ? check(entry) : refresh(id));
    }
    const over = [...entries.values()].filter(({ run, following }) => !following && isEnded(run.life));
    for (const entry of someEnded(over)) await check(entry);
    for (const id of someSkipped([...skipped])) if ((await crew.kept.owner(id)) !== undefined) skipped.delete(id);
  };
  const skipped = new Set<string>();
  const [someEnded, someSkipped] = [rotation<Entry>(MOST_CHECKED), rotation<string>(MOST_CHECKED)];
  /**
   * Reads a run again if its last event has changed (the run was retried, or a task of an idle run was cancelled), or
   * if a question of the idle run was answered.
   */
  const check = async (entry: Entry): Promise<void> => {
    const { id, state, answered } = entry.run;
    const last = (await crew.kept.last(id).catch(() => undefined))?.seq;
    const asks = openQuestions(state).length > answered.length;
    const isAnswered = asks && (await crew.kept.answered(id)).length > answered.length;
    if (last === (entry.last ?? state.seq) && !isAnswered) return;
    entry.last = last;
    await refresh(id);
  };

  await look();
  void (async () => {
    while (await pause(LOOK_EVERY_MS, signal)) await look().catch(() => undefined);
  })();
  return {
    runs: () =>
      order.flatMap((id) => {
        const entry = entries.get(id);
        if (!entry) return [];
        const { run, diffs, shown } = entry;
        if (shown?.of === run && shown.diffs === diffs) return [shown];
        const { state, life, problems, answered } = run;
        entry.shown = { id, state, life, problems, diffs, answered, of: run };
        return [entry.shown];
      }),
    older: () => unread,
  };
}

/** Returns a function that selects a few elements of a list, and different elements at each call. */
function rotation<T>(most: number): (all: readonly T[]) => readonly T[] {
  let next = 0;
  return (all) => {
    const from = next < all.length ? next : 0;
    next = from + most;
    return all.slice(from, next);
  };
}

type Compared = Readonly<{ tasks: readonly string[]; added: number; removed: number }>;

/** Changed lines of the run and of each task. A file that several tasks changed counts only for the run. */
export function changeSizes(files: readonly Compared[]): ReadonlyMap<string, DiffSize> {
  const sizes = new Map<string, DiffSize>();
  const add = (path: string, { added, removed }: Compared): void => {
    const known = sizes.get(path) ?? { added: 0, removed: 0 };
    sizes.set(path, { added: known.added + added, removed: known.removed + removed });
  };
  for (const file of files) {
    add("", file);
    const [task, ...others] = file.tasks;
    if (task !== undefined && others.length === 0) add(task, file);
  }
  return sizes;
}
